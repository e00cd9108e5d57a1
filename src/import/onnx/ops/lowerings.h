// The functions that lower ONNX operators, by file. ops.cc says which operator each is for.
#ifndef ATTUNE_IMPORT_ONNX_OPS_LOWERINGS_H_
#define ATTUNE_IMPORT_ONNX_OPS_LOWERINGS_H_

#include <functional>

#include "import/onnx/op_context.h"

namespace attune::onnx {

// For operators that differ in arguments only: Lower<Unary, Op::kAbs> is Unary(c, Op::kAbs).
template <auto function, auto... arguments>
Outputs Lower(OpContext& c) {
  return function(c, arguments...);
}

// NumPy's matmul for operands of any rank: `product` gets operands of rank >= 2.
Value* MatMulAnyRank(OpContext& c, Value* a, Value* b, const std::function<Value*(Value*, Value*)>& product);

// attention.cc
Lowering Attention, RotaryEmbedding;

// cast.cc
Lowering BitCast, CastToType, CastLike;

// constants.cc
Lowering Constant, ConstantOfShape, ShapeOfInput, SizeOfInput, Range, EyeLike, Trilu, OneHot, NonZero,
    Compress, Unique, NonMaxSuppression, RandomNumbers;

// contraction.cc
Lowering Conv, ConvTranspose, DeformConv, MatMul, Gemm;

// control.cc
Lowering If, Loop, ScanLoop;

// einsum.cc
Lowering Einsum;

// elementwise.cc
Lowering Identity, Sum, MinAll, MaxAll, Mean, Mod, BitShift, Relu, LeakyRelu, Elu, Selu, Celu, HardSigmoid,
    Gelu, Mish, Swish, Softsign, ThresholdedRelu, Shrink, PRelu, Clip, Reciprocal, IsInf, Where, Dropout,
    Affine, ImageScaler, ParametricSoftplus, ScaledTanh;
Outputs Unary(OpContext& c, Op op);
Outputs Binary(OpContext& c, Op op);

// loss.cc
Lowering NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss;

// ml.cc
Lowering ArrayFeatureExtractor, Binarizer;

// movement.cc
Lowering Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Concat, Split, Slice, Expand, Tile, Pad, Gather,
    GatherElements, GatherNd, ScatterElements, ScatterNd, DepthToSpace, SpaceToDepth, ReverseSequence,
    CenterCropPad, CropImage, TensorScatter;

// normalization.cc
Lowering Softmax, LogSoftmax, Hardmax, BatchNormalization, InstanceNormalization, GroupNormalization,
    LayerNormalization, RmsNormalization, LpNormalization, MeanVarianceNormalization;

// quantized.cc
Lowering QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, MatMulInteger, ConvInteger, QLinearMatMul,
    QLinearConv;

// recurrent.cc
Lowering Rnn, Gru, Lstm;

// reduction.cc
Lowering ReduceSum, ReduceMean, ReduceProd, ReduceMax, ReduceMin, ReduceL1, ReduceSumSquare, ReduceL2,
    ReduceLogSum, ReduceLogSumExp, ArgMax, ArgMin, CumSum, CumProd, TopK;

// sampling.cc
Lowering Resize, Upsample, GridSample, RoiAlign, AffineGrid;

// sequence.cc
Lowering SequenceEmpty, SequenceConstruct, SequenceInsert, SequenceErase, SequenceAt, SequenceLength,
    ConcatFromSequence, SplitToSequence, Optional, OptionalHasElement, OptionalGetElement, SequenceMap;

// signal.cc
Lowering Dft, Stft, HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix;

// training.cc
Lowering Adagrad, Adam, Momentum;

// window.cc
Lowering MaxPool, AveragePool, LpPool, GlobalAveragePool, GlobalMaxPool, GlobalLpPool, MaxUnpool, Lrn, Col2Im;

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_OPS_LOWERINGS_H_
