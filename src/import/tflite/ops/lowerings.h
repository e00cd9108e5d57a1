// The functions that lower operators, by file. ops.cc says which operator each is for.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_LOWERINGS_H_
#define ATTUNE_IMPORT_TFLITE_OPS_LOWERINGS_H_

#include "import/tflite/op_context.h"

namespace attune::tflite {

// Operators that map to one canonical operator.
template <Op op>
Outputs Unary(OpContext& c) {
  return {c.Emit(op, {c.In(0)})};
}
template <Op op>
Outputs Binary(OpContext& c) {
  return {c.Emit(op, {c.In(0), c.In(1)})};
}

// arithmetic.cc
Outputs Add(OpContext& c);
Outputs Sub(OpContext& c);
Outputs Mul(OpContext& c);
Outputs Div(OpContext& c);
Outputs AddN(OpContext& c);
Outputs SquaredDifference(OpContext& c);
Outputs FloorDivide(OpContext& c);
Outputs Atan2(OpContext& c);
Outputs RightShift(OpContext& c);

// activation.cc
Outputs Relu(OpContext& c);
Outputs Relu6(OpContext& c);
Outputs ReluMinus1To1(OpContext& c);
Outputs Relu0To1(OpContext& c);
Outputs HardSwish(OpContext& c);
Outputs LeakyRelu(OpContext& c);
Outputs PRelu(OpContext& c);

// contraction.cc
Outputs Conv2d(OpContext& c);
Outputs DepthwiseConv2d(OpContext& c);
Outputs Conv3d(OpContext& c);
Outputs FullyConnected(OpContext& c);
Outputs BatchMatMul(OpContext& c);

// control.cc
Outputs If(OpContext& c);
Outputs While(OpContext& c);
Outputs Call(OpContext& c);
Outputs Composite(OpContext& c);

// detection.cc
Outputs DetectionPostProcess(OpContext& c);
Outputs NonMaxSuppressionV4(OpContext& c);
Outputs NonMaxSuppressionV5(OpContext& c);

// comparison.cc
Outputs Equal(OpContext& c);
Outputs NotEqual(OpContext& c);
Outputs Less(OpContext& c);
Outputs LessEqual(OpContext& c);
Outputs Greater(OpContext& c);
Outputs GreaterEqual(OpContext& c);

// elementwise.cc
Outputs Square(OpContext& c);
Outputs CastToType(OpContext& c);
Outputs Identity(OpContext& c);
Outputs Select(OpContext& c);
Outputs SelectV2(OpContext& c);

// generate.cc
Outputs ShapeOfInput(OpContext& c);
Outputs RankOfInput(OpContext& c);
Outputs Fill(OpContext& c);
Outputs Range(OpContext& c);
Outputs ZerosLike(OpContext& c);
Outputs OneHot(OpContext& c);
Outputs MatrixDiag(OpContext& c);
Outputs MatrixSetDiag(OpContext& c);
Outputs BroadcastArgs(OpContext& c);

// indexed.cc
Outputs Gather(OpContext& c);
Outputs GatherNd(OpContext& c);
Outputs EmbeddingLookup(OpContext& c);
Outputs ScatterNd(OpContext& c);
Outputs SparseToDense(OpContext& c);
Outputs SegmentSum(OpContext& c);
Outputs UnsortedSegmentSum(OpContext& c);
Outputs UnsortedSegmentProd(OpContext& c);
Outputs UnsortedSegmentMax(OpContext& c);
Outputs UnsortedSegmentMin(OpContext& c);
Outputs DynamicUpdateSlice(OpContext& c);
Outputs WhereTrue(OpContext& c);
Outputs Unique(OpContext& c);

// movement.cc
Outputs Reshape(OpContext& c);
Outputs Squeeze(OpContext& c);
Outputs ExpandDims(OpContext& c);
Outputs Transpose(OpContext& c);
Outputs Concatenation(OpContext& c);
Outputs Pack(OpContext& c);
Outputs Unpack(OpContext& c);
Outputs Tile(OpContext& c);
Outputs BroadcastTo(OpContext& c);
Outputs Pad(OpContext& c);
Outputs MirrorPad(OpContext& c);
Outputs Reverse(OpContext& c);
Outputs ReverseSequence(OpContext& c);

// normalization.cc
Outputs Softmax(OpContext& c);
Outputs LogSoftmax(OpContext& c);
Outputs L2Normalization(OpContext& c);

// quantized.cc
Outputs QuantizeTensor(OpContext& c);
Outputs DequantizeTensor(OpContext& c);
Outputs FakeQuant(OpContext& c);

// recurrent.cc
Outputs Lstm(OpContext& c);
Outputs SequenceLstm(OpContext& c);
Outputs BidirectionalLstm(OpContext& c);
Outputs Rnn(OpContext& c);
Outputs SequenceRnn(OpContext& c);
Outputs BidirectionalRnn(OpContext& c);

// reduction.cc
Outputs Sum(OpContext& c);
Outputs Mean(OpContext& c);
Outputs ReduceProd(OpContext& c);
Outputs ReduceMax(OpContext& c);
Outputs ReduceMin(OpContext& c);
Outputs ArgMax(OpContext& c);
Outputs ArgMin(OpContext& c);
Outputs CumSum(OpContext& c);
Outputs TopK(OpContext& c);

// sampling.cc
Outputs ResizeBilinear(OpContext& c);
Outputs ResizeNearest(OpContext& c);
Outputs DepthToSpace(OpContext& c);
Outputs SpaceToDepth(OpContext& c);
Outputs SpaceToBatch(OpContext& c);
Outputs BatchToSpace(OpContext& c);

// slicing.cc
Outputs Slice(OpContext& c);
Outputs StridedSlice(OpContext& c);
Outputs Split(OpContext& c);
Outputs SplitV(OpContext& c);

// svdf.cc
Outputs Svdf(OpContext& c);

// transposed.cc
Outputs TransposeConv(OpContext& c);
Outputs Conv3dTranspose(OpContext& c);
Outputs TransposeConvBias(OpContext& c);

// tables.cc
Outputs Logistic(OpContext& c);
Outputs Tanh(OpContext& c);
Outputs Exp(OpContext& c);
Outputs Log(OpContext& c);
Outputs Elu(OpContext& c);
Outputs Gelu(OpContext& c);
Outputs Sqrt(OpContext& c);
Outputs Rsqrt(OpContext& c);
Outputs Abs(OpContext& c);

// window.cc
Outputs AveragePool(OpContext& c);
Outputs MaxPool(OpContext& c);
Outputs L2Pool(OpContext& c);
Outputs LocalResponseNormalization(OpContext& c);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_LOWERINGS_H_
