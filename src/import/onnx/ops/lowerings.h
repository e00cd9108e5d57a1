// The functions that lower ONNX operators, by file. ops.cc says which operator each is for.
#ifndef ATTUNE_IMPORT_ONNX_OPS_LOWERINGS_H_
#define ATTUNE_IMPORT_ONNX_OPS_LOWERINGS_H_

#include <functional>

#include "import/onnx/op_context.h"

namespace attune::onnx {

// NumPy's matmul for operands of any rank: `product` gets operands of rank >= 2.
Value* MatMulAnyRank(OpContext& c, Value* a, Value* b, const std::function<Value*(Value*, Value*)>& product);

// elementwise.cc: operators that map to one canonical operator.
Outputs Unary(OpContext& c, Op op);
Outputs Binary(OpContext& c, Op op);
template <Op op>
Outputs Unary(OpContext& c) {
  return Unary(c, op);
}
template <Op op>
Outputs Binary(OpContext& c) {
  return Binary(c, op);
}

// attention.cc
Outputs Attention(OpContext& c);
Outputs RotaryEmbedding(OpContext& c);

// cast.cc
Outputs BitCast(OpContext& c);
Outputs CastToType(OpContext& c);
Outputs CastLike(OpContext& c);

// constants.cc
Outputs Constant(OpContext& c);
Outputs ConstantOfShape(OpContext& c);
Outputs ShapeOfInput(OpContext& c);
Outputs SizeOfInput(OpContext& c);
Outputs Range(OpContext& c);
Outputs EyeLike(OpContext& c);
Outputs Trilu(OpContext& c);
Outputs OneHot(OpContext& c);
Outputs NonZero(OpContext& c);
Outputs Compress(OpContext& c);
Outputs Unique(OpContext& c);
Outputs NonMaxSuppression(OpContext& c);
Outputs RandomNumbers(OpContext& c);

// contraction.cc
Outputs Conv(OpContext& c);
Outputs ConvTranspose(OpContext& c);
Outputs DeformConv(OpContext& c);
Outputs MatMul(OpContext& c);
Outputs Gemm(OpContext& c);

// control.cc
Outputs If(OpContext& c);
Outputs Loop(OpContext& c);
Outputs ScanLoop(OpContext& c);

// einsum.cc
Outputs Einsum(OpContext& c);

// elementwise.cc
Outputs Identity(OpContext& c);
Outputs Sum(OpContext& c);
Outputs MinAll(OpContext& c);
Outputs MaxAll(OpContext& c);
Outputs Mean(OpContext& c);
Outputs Mod(OpContext& c);
Outputs BitShift(OpContext& c);
Outputs Relu(OpContext& c);
Outputs LeakyRelu(OpContext& c);
Outputs Elu(OpContext& c);
Outputs Selu(OpContext& c);
Outputs Celu(OpContext& c);
Outputs HardSigmoid(OpContext& c);
Outputs Gelu(OpContext& c);
Outputs Mish(OpContext& c);
Outputs Swish(OpContext& c);
Outputs Softsign(OpContext& c);
Outputs ThresholdedRelu(OpContext& c);
Outputs Shrink(OpContext& c);
Outputs PRelu(OpContext& c);
Outputs Clip(OpContext& c);
Outputs Reciprocal(OpContext& c);
Outputs IsInf(OpContext& c);
Outputs Where(OpContext& c);
Outputs Dropout(OpContext& c);
Outputs Affine(OpContext& c);
Outputs ImageScaler(OpContext& c);
Outputs ParametricSoftplus(OpContext& c);
Outputs ScaledTanh(OpContext& c);

// loss.cc
Outputs NegativeLogLikelihoodLoss(OpContext& c);
Outputs SoftmaxCrossEntropyLoss(OpContext& c);

// ml.cc
Outputs ArrayFeatureExtractor(OpContext& c);
Outputs Binarizer(OpContext& c);

// movement.cc
Outputs Reshape(OpContext& c);
Outputs Flatten(OpContext& c);
Outputs Squeeze(OpContext& c);
Outputs Unsqueeze(OpContext& c);
Outputs Transpose(OpContext& c);
Outputs Concat(OpContext& c);
Outputs Split(OpContext& c);
Outputs Slice(OpContext& c);
Outputs Expand(OpContext& c);
Outputs Tile(OpContext& c);
Outputs Pad(OpContext& c);
Outputs Gather(OpContext& c);
Outputs GatherElements(OpContext& c);
Outputs GatherNd(OpContext& c);
Outputs ScatterElements(OpContext& c);
Outputs ScatterNd(OpContext& c);
Outputs DepthToSpace(OpContext& c);
Outputs SpaceToDepth(OpContext& c);
Outputs ReverseSequence(OpContext& c);
Outputs CenterCropPad(OpContext& c);
Outputs CropImage(OpContext& c);
Outputs TensorScatter(OpContext& c);

// normalization.cc
Outputs Softmax(OpContext& c);
Outputs LogSoftmax(OpContext& c);
Outputs Hardmax(OpContext& c);
Outputs BatchNormalization(OpContext& c);
Outputs InstanceNormalization(OpContext& c);
Outputs GroupNormalization(OpContext& c);
Outputs LayerNormalization(OpContext& c);
Outputs RmsNormalization(OpContext& c);
Outputs LpNormalization(OpContext& c);
Outputs MeanVarianceNormalization(OpContext& c);

// quantized.cc
Outputs QuantizeLinear(OpContext& c);
Outputs DequantizeLinear(OpContext& c);
Outputs DynamicQuantizeLinear(OpContext& c);
Outputs MatMulInteger(OpContext& c);
Outputs ConvInteger(OpContext& c);
Outputs QLinearMatMul(OpContext& c);
Outputs QLinearConv(OpContext& c);

// recurrent.cc
Outputs Rnn(OpContext& c);
Outputs Gru(OpContext& c);
Outputs Lstm(OpContext& c);

// reduction.cc
Outputs ReduceSum(OpContext& c);
Outputs ReduceMean(OpContext& c);
Outputs ReduceProd(OpContext& c);
Outputs ReduceMax(OpContext& c);
Outputs ReduceMin(OpContext& c);
Outputs ReduceL1(OpContext& c);
Outputs ReduceSumSquare(OpContext& c);
Outputs ReduceL2(OpContext& c);
Outputs ReduceLogSum(OpContext& c);
Outputs ReduceLogSumExp(OpContext& c);
Outputs ArgMax(OpContext& c);
Outputs ArgMin(OpContext& c);
Outputs CumSum(OpContext& c);
Outputs CumProd(OpContext& c);
Outputs TopK(OpContext& c);

// sampling.cc
Outputs Resize(OpContext& c);
Outputs Upsample(OpContext& c);
Outputs GridSample(OpContext& c);
Outputs RoiAlign(OpContext& c);
Outputs AffineGrid(OpContext& c);

// sequence.cc
Outputs SequenceEmpty(OpContext& c);
Outputs SequenceConstruct(OpContext& c);
Outputs SequenceInsert(OpContext& c);
Outputs SequenceErase(OpContext& c);
Outputs SequenceAt(OpContext& c);
Outputs SequenceLength(OpContext& c);
Outputs ConcatFromSequence(OpContext& c);
Outputs SplitToSequence(OpContext& c);
Outputs Optional(OpContext& c);
Outputs OptionalHasElement(OpContext& c);
Outputs OptionalGetElement(OpContext& c);
Outputs SequenceMap(OpContext& c);

// signal.cc
Outputs Dft(OpContext& c);
Outputs Stft(OpContext& c);
Outputs HannWindow(OpContext& c);
Outputs HammingWindow(OpContext& c);
Outputs BlackmanWindow(OpContext& c);
Outputs MelWeightMatrix(OpContext& c);

// training.cc
Outputs Adagrad(OpContext& c);
Outputs Adam(OpContext& c);
Outputs Momentum(OpContext& c);

// window.cc
Outputs MaxPool(OpContext& c);
Outputs AveragePool(OpContext& c);
Outputs LpPool(OpContext& c);
Outputs GlobalAveragePool(OpContext& c);
Outputs GlobalMaxPool(OpContext& c);
Outputs GlobalLpPool(OpContext& c);
Outputs MaxUnpool(OpContext& c);
Outputs Lrn(OpContext& c);
Outputs Col2Im(OpContext& c);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_OPS_LOWERINGS_H_
