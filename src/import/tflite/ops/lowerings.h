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
Lowering Add, Sub, Mul, Div, AddN, SquaredDifference, FloorDivide, Atan2, RightShift;

// activation.cc
Lowering Relu, Relu6, ReluMinus1To1, Relu0To1, HardSwish, LeakyRelu, PRelu;

// contraction.cc
Lowering Conv2d, DepthwiseConv2d, Conv3d, FullyConnected, BatchMatMul;

// control.cc
Lowering If, While, Call, Composite;

// detection.cc
Lowering DetectionPostProcess, NonMaxSuppressionV4, NonMaxSuppressionV5;

// comparison.cc
Lowering Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual;

// elementwise.cc
Lowering Square, CastToType, Identity, Select, SelectV2;

// generate.cc
Lowering ShapeOfInput, RankOfInput, Fill, Range, ZerosLike, OneHot, MatrixDiag, MatrixSetDiag, BroadcastArgs;

// indexed.cc
Lowering Gather, GatherNd, EmbeddingLookup, ScatterNd, SparseToDense, SegmentSum, UnsortedSegmentSum,
    UnsortedSegmentProd, UnsortedSegmentMax, UnsortedSegmentMin, DynamicUpdateSlice, WhereTrue, Unique;

// movement.cc
Lowering Reshape, Squeeze, ExpandDims, Transpose, Concatenation, Pack, Unpack, Tile, BroadcastTo, Pad,
    MirrorPad, Reverse, ReverseSequence;

// normalization.cc
Lowering Softmax, LogSoftmax, L2Normalization;

// quantized.cc
Lowering QuantizeTensor, DequantizeTensor, FakeQuant;

// recurrent.cc
Lowering Lstm, SequenceLstm, BidirectionalLstm, Rnn, SequenceRnn, BidirectionalRnn;

// reduction.cc
Lowering Sum, Mean, ReduceProd, ReduceMax, ReduceMin, ArgMax, ArgMin, CumSum, TopK;

// sampling.cc
Lowering ResizeBilinear, ResizeNearest, DepthToSpace, SpaceToDepth, SpaceToBatch, BatchToSpace;

// slicing.cc
Lowering Slice, StridedSlice, Split, SplitV;

// svdf.cc
Lowering Svdf;

// transposed.cc
Lowering TransposeConv, Conv3dTranspose, TransposeConvBias;

// tables.cc
Lowering Logistic, Tanh, Exp, Log, Elu, Gelu, Sqrt, Rsqrt, Abs;

// window.cc
Lowering AveragePool, MaxPool, L2Pool, LocalResponseNormalization;

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_LOWERINGS_H_
