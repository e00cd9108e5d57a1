// The functions that lower operators, by file. ops.cc says which operator each is for.
#ifndef ATTUNE_IMPORT_PYTORCH_OPS_LOWERINGS_H_
#define ATTUNE_IMPORT_PYTORCH_OPS_LOWERINGS_H_

#include <cstddef>

#include "import/pytorch/op_context.h"

namespace attune::pytorch {

// Operators that differ in the canonical operator only.
using LoweringOf = Outputs(OpContext& c, Op op);

// For operators that differ in one argument only: Lower<Unary, Op::kAbs> is Unary(c, Op::kAbs).
template <auto function, auto... arguments>
Outputs Lower(OpContext& c) {
  return function(c, arguments...);
}

// Python's operators on numbers, with positional arguments.
using NumberFunction = Number(const Number& a);
template <NumberFunction function>
Outputs OnNumber(OpContext& c) {
  return {function(c.NumAt(0))};
}
using BinaryNumberFunction = Number(const Number& a, const Number& b);
template <BinaryNumberFunction function>
Outputs OnNumbers(OpContext& c) {
  return {function(c.NumAt(0), c.NumAt(1))};
}

// activation.cc
Lowering Relu, Relu6, HardTanh, LeakyRelu, RandomLeakyRelu, Elu, Selu, Celu, Gelu, HardSigmoid, Mish,
    Softplus, LogSigmoid, Threshold, PRelu, HardShrink, SoftShrink, TanhShrink, Glu, Dropout;

// attention.cc
Lowering Attention;

// contraction.cc
Lowering GeneralConvolution, Linear, MatMul, MatrixProduct, AddMm, AddBmm, MatrixVector, Dot;
Outputs Convolution(OpContext& c, bool transposed);

// creation.cc
Lowering Arange, Linspace, Full, FullLike, NewFull, FillInto, ScalarTensor, Eye, RandomNumbers;
Outputs Filled(OpContext& c, double value);
Outputs FilledLike(OpContext& c, double value);
Outputs NewFilled(OpContext& c, double value);

// elementwise.cc
Lowering RoundDecimals, Trunc, Frac, Rsqrt, Reciprocal, Square, Exp2, Expm1, Log1p, Log2, Log10, Erfc,
    IsFinite, NanToNum, LogicalNot, Rsub, Divide, FloorDivide, Power, Where, MaskedFill, Clamp, Lerp, CastTo,
    CastLike;
Outputs Modulo(OpContext& c, bool truncate);
Outputs Compare(OpContext& c, Op op, bool negate);
LoweringOf Unary, UnaryFloat, Rounding, IsSpecial, Binary, AddScaled, Logical, Bitwise, AddCombined;

// indexing.cc
Lowering Embedding, IndexSelect, Gather, Index, IndexPut, OneHot, LowerTriangle, UpperTriangle, DependsOnData;
Outputs Scatter(OpContext& c, const char* reduction);

// movement.cc
Lowering Identity, Reshape, ReshapeLike, Flatten, Unflatten, Permute, TransposeAxes, TransposeMatrix,
    ReverseAxes, MoveAxes, Expand, ExpandLike, CopyInto, Unsqueeze, Squeeze, Slice, SliceScatter, Select,
    SelectScatter, Narrow, Flip, Roll, ViewAsType;

// normalization.cc
Lowering BatchNorm, InstanceNorm, GroupNorm, LayerNorm, RmsNorm;
LoweringOf Softmax;

// numbers.cc
Lowering ChooseNumber, SizeOf, CountOf, NumberOfTensor, Nothing;
BinaryNumberFunction AddNumbers, SubtractNumbers, MultiplyNumbers, DivideNumbers, FloorDivideNumbers,
    ModuloNumbers, PowerOfNumbers, SmallerNumber, LargerNumber, NumbersEqual, NumbersDiffer, NumberLess,
    NumberLessEqual, NumberGreater, NumberGreaterEqual, BothNumbers, EitherNumber;
NumberFunction NegateNumber, SameNumber, NotNumber, NumberAsFloat, TruncatedNumber, NumberRoundedDown,
    NumberRoundedUp, RootOfNumber;

// rearrange.cc
Lowering Concat, Stack, Split, SplitSizes, Chunk, Unbind, Repeat, Tile, RepeatInterleave, Pad, PixelShuffle,
    PixelUnshuffle, ChannelShuffle;
Outputs PadWith(OpContext& c, const char* mode);

// reduction.cc
Lowering Sum, Prod, Mean, Variance, Deviation, VarianceAndMean, Norm, LogSumExp, TopK, Sort, ArgSort;
Outputs ExtremeWithIndex(OpContext& c, Op values, Op positions);
LoweringOf Extreme, Truth, ArgExtreme, Scan;

// sampling.cc
Lowering GridSample;
enum class Sampling { kNearest, kNearestExact, kLinear, kCubic };
Outputs Upsample(OpContext& c, size_t rank, Sampling sampling);

// subgraph.cc
Lowering WithGradient, WithAutocast;

// window.cc: `rank` is the number of spatial dimensions
Outputs MaxPool(OpContext& c, size_t rank, bool indices);
Outputs AveragePool(OpContext& c, size_t rank);
Outputs AdaptiveAveragePool(OpContext& c, size_t rank);
Outputs AdaptiveMaxPool(OpContext& c, size_t rank);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_OPS_LOWERINGS_H_
