// The functions that lower operators, by file. ops.cc says which operator each is for.
#ifndef ATTUNE_IMPORT_PYTORCH_OPS_LOWERINGS_H_
#define ATTUNE_IMPORT_PYTORCH_OPS_LOWERINGS_H_

#include <cstddef>

#include "import/pytorch/op_context.h"

namespace attune::pytorch {

// For operators that differ in one argument only: Lower<Unary, Op::kAbs> is Unary(c, Op::kAbs).
template <auto function, auto... arguments>
Outputs Lower(OpContext& c) {
  return function(c, arguments...);
}

// Python's operators on numbers, with positional arguments.
template <Number (*function)(const Number&)>
Outputs OnNumber(OpContext& c) {
  return {function(c.NumAt(0))};
}
template <Number (*function)(const Number&, const Number&)>
Outputs OnNumbers(OpContext& c) {
  return {function(c.NumAt(0), c.NumAt(1))};
}

// activation.cc
Outputs Relu(OpContext& c);
Outputs Relu6(OpContext& c);
Outputs HardTanh(OpContext& c);
Outputs LeakyRelu(OpContext& c);
Outputs RandomLeakyRelu(OpContext& c);
Outputs Elu(OpContext& c);
Outputs Selu(OpContext& c);
Outputs Celu(OpContext& c);
Outputs Gelu(OpContext& c);
Outputs HardSigmoid(OpContext& c);
Outputs Mish(OpContext& c);
Outputs Softplus(OpContext& c);
Outputs LogSigmoid(OpContext& c);
Outputs Threshold(OpContext& c);
Outputs PRelu(OpContext& c);
Outputs HardShrink(OpContext& c);
Outputs SoftShrink(OpContext& c);
Outputs TanhShrink(OpContext& c);
Outputs Glu(OpContext& c);
Outputs Dropout(OpContext& c);

// attention.cc
Outputs Attention(OpContext& c);

// contraction.cc
Outputs Convolution(OpContext& c, bool transposed);
Outputs GeneralConvolution(OpContext& c);
Outputs Linear(OpContext& c);
Outputs MatMul(OpContext& c);
Outputs MatrixProduct(OpContext& c);
Outputs AddMm(OpContext& c);
Outputs AddBmm(OpContext& c);
Outputs MatrixVector(OpContext& c);
Outputs Dot(OpContext& c);

// creation.cc
Outputs Arange(OpContext& c);
Outputs Linspace(OpContext& c);
Outputs Full(OpContext& c);
Outputs FullLike(OpContext& c);
Outputs NewFull(OpContext& c);
Outputs Filled(OpContext& c, double value);
Outputs FilledLike(OpContext& c, double value);
Outputs NewFilled(OpContext& c, double value);
Outputs FillInto(OpContext& c);
Outputs ScalarTensor(OpContext& c);
Outputs Eye(OpContext& c);
Outputs RandomNumbers(OpContext& c);

// elementwise.cc
Outputs Unary(OpContext& c, Op op);
Outputs UnaryFloat(OpContext& c, Op op);
Outputs Rounding(OpContext& c, Op op);
Outputs RoundDecimals(OpContext& c);
Outputs Trunc(OpContext& c);
Outputs Frac(OpContext& c);
Outputs Rsqrt(OpContext& c);
Outputs Reciprocal(OpContext& c);
Outputs Square(OpContext& c);
Outputs Exp2(OpContext& c);
Outputs Expm1(OpContext& c);
Outputs Log1p(OpContext& c);
Outputs Log2(OpContext& c);
Outputs Log10(OpContext& c);
Outputs Erfc(OpContext& c);
Outputs IsSpecial(OpContext& c, Op op);
Outputs IsFinite(OpContext& c);
Outputs NanToNum(OpContext& c);
Outputs LogicalNot(OpContext& c);
Outputs Binary(OpContext& c, Op op);
Outputs AddScaled(OpContext& c, Op op);
Outputs Rsub(OpContext& c);
Outputs Divide(OpContext& c);
Outputs FloorDivide(OpContext& c);
Outputs Modulo(OpContext& c, bool truncate);
Outputs Power(OpContext& c);
Outputs Compare(OpContext& c, Op op, bool negate);
Outputs Logical(OpContext& c, Op op);
Outputs Bitwise(OpContext& c, Op op);
Outputs Where(OpContext& c);
Outputs MaskedFill(OpContext& c);
Outputs Clamp(OpContext& c);
Outputs Lerp(OpContext& c);
Outputs AddCombined(OpContext& c, Op op);
Outputs CastTo(OpContext& c);
Outputs CastLike(OpContext& c);

// indexing.cc
Outputs Embedding(OpContext& c);
Outputs IndexSelect(OpContext& c);
Outputs Gather(OpContext& c);
Outputs Index(OpContext& c);
Outputs IndexPut(OpContext& c);
Outputs Scatter(OpContext& c, const char* reduction);
Outputs OneHot(OpContext& c);
Outputs LowerTriangle(OpContext& c);
Outputs UpperTriangle(OpContext& c);
Outputs DependsOnData(OpContext& c);

// movement.cc
Outputs Identity(OpContext& c);
Outputs Reshape(OpContext& c);
Outputs ReshapeLike(OpContext& c);
Outputs Flatten(OpContext& c);
Outputs Unflatten(OpContext& c);
Outputs Permute(OpContext& c);
Outputs TransposeAxes(OpContext& c);
Outputs TransposeMatrix(OpContext& c);
Outputs ReverseAxes(OpContext& c);
Outputs MoveAxes(OpContext& c);
Outputs Expand(OpContext& c);
Outputs ExpandLike(OpContext& c);
Outputs CopyInto(OpContext& c);
Outputs Unsqueeze(OpContext& c);
Outputs Squeeze(OpContext& c);
Outputs Slice(OpContext& c);
Outputs SliceScatter(OpContext& c);
Outputs Select(OpContext& c);
Outputs SelectScatter(OpContext& c);
Outputs Narrow(OpContext& c);
Outputs Flip(OpContext& c);
Outputs Roll(OpContext& c);
Outputs ViewAsType(OpContext& c);

// normalization.cc
Outputs BatchNorm(OpContext& c);
Outputs InstanceNorm(OpContext& c);
Outputs GroupNorm(OpContext& c);
Outputs LayerNorm(OpContext& c);
Outputs RmsNorm(OpContext& c);
Outputs Softmax(OpContext& c, Op op);

// numbers.cc
Number AddNumbers(const Number& a, const Number& b);
Number SubtractNumbers(const Number& a, const Number& b);
Number MultiplyNumbers(const Number& a, const Number& b);
Number DivideNumbers(const Number& a, const Number& b);
Number FloorDivideNumbers(const Number& a, const Number& b);
Number ModuloNumbers(const Number& a, const Number& b);
Number PowerOfNumbers(const Number& a, const Number& b);
Number SmallerNumber(const Number& a, const Number& b);
Number LargerNumber(const Number& a, const Number& b);
Number NumbersEqual(const Number& a, const Number& b);
Number NumbersDiffer(const Number& a, const Number& b);
Number NumberLess(const Number& a, const Number& b);
Number NumberLessEqual(const Number& a, const Number& b);
Number NumberGreater(const Number& a, const Number& b);
Number NumberGreaterEqual(const Number& a, const Number& b);
Number BothNumbers(const Number& a, const Number& b);
Number EitherNumber(const Number& a, const Number& b);
Number NegateNumber(const Number& a);
Number SameNumber(const Number& a);
Number NotNumber(const Number& a);
Number NumberAsFloat(const Number& a);
Number TruncatedNumber(const Number& a);
Number NumberRoundedDown(const Number& a);
Number NumberRoundedUp(const Number& a);
Number RootOfNumber(const Number& a);
Outputs ChooseNumber(OpContext& c);
Outputs SizeOf(OpContext& c);
Outputs CountOf(OpContext& c);
Outputs NumberOfTensor(OpContext& c);
Outputs Nothing(OpContext& c);

// rearrange.cc
Outputs Concat(OpContext& c);
Outputs Stack(OpContext& c);
Outputs Split(OpContext& c);
Outputs SplitSizes(OpContext& c);
Outputs Chunk(OpContext& c);
Outputs Unbind(OpContext& c);
Outputs Repeat(OpContext& c);
Outputs Tile(OpContext& c);
Outputs RepeatInterleave(OpContext& c);
Outputs Pad(OpContext& c);
Outputs PadWith(OpContext& c, const char* mode);
Outputs PixelShuffle(OpContext& c);
Outputs PixelUnshuffle(OpContext& c);
Outputs ChannelShuffle(OpContext& c);

// reduction.cc
Outputs Sum(OpContext& c);
Outputs Prod(OpContext& c);
Outputs Mean(OpContext& c);
Outputs Extreme(OpContext& c, Op op);
Outputs Truth(OpContext& c, Op op);
Outputs ExtremeWithIndex(OpContext& c, Op values, Op positions);
Outputs ArgExtreme(OpContext& c, Op op);
Outputs Variance(OpContext& c);
Outputs Deviation(OpContext& c);
Outputs VarianceAndMean(OpContext& c);
Outputs Norm(OpContext& c);
Outputs LogSumExp(OpContext& c);
Outputs Scan(OpContext& c, Op op);
Outputs TopK(OpContext& c);
Outputs Sort(OpContext& c);
Outputs ArgSort(OpContext& c);

// sampling.cc
enum class Sampling { kNearest, kNearestExact, kLinear, kCubic };
Outputs Upsample(OpContext& c, size_t rank, Sampling sampling);
Outputs GridSample(OpContext& c);

// subgraph.cc
Outputs WithGradient(OpContext& c);
Outputs WithAutocast(OpContext& c);

// window.cc: `rank` is the number of spatial dimensions
Outputs MaxPool(OpContext& c, size_t rank, bool indices);
Outputs AveragePool(OpContext& c, size_t rank);
Outputs AdaptiveAveragePool(OpContext& c, size_t rank);
Outputs AdaptiveMaxPool(OpContext& c, size_t rank);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_OPS_LOWERINGS_H_
