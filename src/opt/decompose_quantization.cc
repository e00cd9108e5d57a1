// Quantization as elementwise operators, which layouts, fusion and kernels know already.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/fixed_point.h"
#include "opt/passes.h"
#include "opt/quantization.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

constexpr int kMaxDepth = 32;  // how many operators before a value are looked at

// A parameter (one number, or one for each index along an axis of `like`) in a shape that broadcasts over
// `like`.
Value* Broadcastable(Graph& graph, Node* node, Value* parameter, const Value* like) {
  if (parameter->type().rank() == 0) return parameter;
  Shape shape(static_cast<size_t>(like->type().rank()), 1);
  const int64_t axis = node->attrs().Int("axis", 1);
  shape[static_cast<size_t>(axis)] = parameter->type().dims[0].size;
  return AddBefore(graph, node, Op::kReshape, {parameter}, {{"shape", Ints(shape)}});
}

Value* CastTo(Graph& graph, Node* node, Value* value, DType dtype) {
  if (value->type().dtype == dtype) return value;
  if (const Tensor* constant = value->constant())
    return graph.AddConstant(FromDoubles(dtype, constant->shape(), ToDoubles(*constant)), node->name(), node);
  return AddBefore(graph, node, Op::kCast, {value}, {{"to", dtype}});
}

// Whether a value is only summed up with others, or quantized: then it may be off by a rounding of the sum.
bool IsSummed(const Graph& graph, const Value* value) {
  return !graph.IsOutput(value) && std::ranges::all_of(value->users(), [](const Node* user) {
    return user->op() == Op::kAdd || user->op() == Op::kSub || user->op() == Op::kQuantize;
  });
}

// (x - zero) scale. Where the result is summed up and the parameters are constants: x scale - zero scale,
// which is one instruction, and whose offset merges with those of the other terms. Elsewhere the zero point
// has to become exactly 0: roots, logarithms and comparisons tell 0 from a number near it.
Value* Dequantized(Graph& graph, Node* node) {
  const DType dtype = node->output()->type().dtype;
  const auto constants = DequantizationOf(node->output());
  if (constants && (AllAre(constants->zero, 0) || IsSummed(graph, node->output()))) {
    const int rank = node->output()->type().rank();
    const auto along = [&](const std::vector<double>& numbers) {
      return AddAlong(graph, node, dtype, numbers, rank, constants->axis);
    };
    Value* product = AddBefore(graph, node, Op::kMul,
                               {CastTo(graph, node, node->input(0), dtype), along(constants->scale)});
    if (AllAre(constants->zero, 0)) return product;
    std::vector<double> offsets = constants->scale;
    for (size_t i = 0; i < offsets.size(); ++i) offsets[i] *= -static_cast<double>(constants->zero[i]);
    return AddBefore(graph, node, Op::kAdd, {product, along(offsets)});
  }
  // The difference of two 32-bit integers may need more than 32 bits.
  const bool is_wide = DTypeSize(node->input(0)->type().dtype) >= 4;
  const DType difference = is_wide ? DType::kI64 : DType::kI32;
  Value* x = node->input(0);
  if (node->input(2) != nullptr) {
    Value* zero = Broadcastable(graph, node, node->input(2), node->output());
    x = AddBefore(graph, node, Op::kSub,
                  {CastTo(graph, node, x, difference), CastTo(graph, node, zero, difference)});
  }
  return AddBefore(
      graph, node, Op::kMul,
      {CastTo(graph, node, x, dtype), Broadcastable(graph, node, node->input(1), node->output())});
}

// cast(rounded + zero), where the cast saturates.
Value* Saturated(Graph& graph, Node* node, Value* rounded) {
  if (node->input(2) != nullptr) {
    const DType dtype = rounded->type().dtype;
    Value* zero = Broadcastable(graph, node, CastTo(graph, node, node->input(2), dtype), node->output());
    rounded = AddBefore(graph, node, Op::kAdd, {rounded, zero});
  }
  return CastTo(graph, node, rounded, node->attrs().Type("to"));
}

// round(x / scale) + zero
Value* Quantized(Graph& graph, Node* node) {
  Value* x = node->input(0);
  const DType dtype = x->type().dtype;
  if (ScalarOf(node->input(1)) != 1) {
    Value* scale = Broadcastable(graph, node, CastTo(graph, node, node->input(1), dtype), x);
    x = AddBefore(graph, node, Op::kDiv, {x, scale});
  }
  return Saturated(graph, node, AddBefore(graph, node, Op::kRound, {x}));
}

// An integer of 32 bits that does not overflow, as factor · base + offset. The base is a smaller integer or
// a double.
struct Linear {
  Value* base;
  double factor = 1, offset = 0;
};

// The doubles that `value`, an integer of 32 bits, is cast from, if they are whole numbers; else nullptr.
Value* WholeDoubles(const Value* value) {
  const Node* cast = ProducerOf(value, Op::kCast);
  if (cast == nullptr || cast->input(0)->type().dtype != DType::kF64) return nullptr;
  const Node* rounding = cast->input(0)->producer();
  const bool is_whole = rounding != nullptr && (rounding->op() == Op::kFloor || rounding->op() == Op::kRound);
  return is_whole ? cast->input(0) : nullptr;
}

// Looks at most `depth` operators before `value`.
Linear LinearOf(Graph& graph, Node* before, Value* value, int depth = kMaxDepth) {
  const Node* node = value->producer();
  if (node == nullptr || value->type().dtype != DType::kI32 || depth == 0) return {value};
  if (Value* doubles = WholeDoubles(value)) return {doubles};
  if (node->op() == Op::kCast && IsInt(node->input(0)->type().dtype) &&
      DTypeSize(node->input(0)->type().dtype) < 4)
    return {node->input(0)};
  if (node->op() != Op::kAdd && node->op() != Op::kSub && node->op() != Op::kMul) return {value};
  Value *left = WholeDoubles(node->input(0)), *right = WholeDoubles(node->input(1));
  if (left != nullptr && right != nullptr && node->op() != Op::kMul)
    return {AddBefore(graph, before, node->op(), {left, right})};
  const std::optional<double> number = ScalarOf(node->input(1));
  if (!number) return {value};
  Linear linear = LinearOf(graph, before, node->input(0), depth - 1);
  if (node->op() == Op::kMul) {
    linear.factor *= *number;
    linear.offset *= *number;
  } else {
    linear.offset += node->op() == Op::kAdd ? *number : -*number;
  }
  return linear;
}

bool AreWhole(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double number) { return number == std::floor(number); });
}

// The node's first input times `factors`, which are one or one for each index along `axis`, rounded to
// whole doubles, ties upwards.
Value* RoundedProduct(Graph& graph, Node* node, std::vector<double> factors, int rank, int64_t axis) {
  const Linear x = LinearOf(graph, node, node->input(0));
  std::vector<double> offsets;
  for (double& factor : factors) {
    offsets.push_back(x.offset * factor);
    factor *= x.factor;
  }
  const bool is_whole = AreWhole(factors) && AreWhole(offsets);
  if (!is_whole) {
    for (double& offset : offsets) offset += 0.5;
  }
  const auto along = [&](const std::vector<double>& numbers) {
    return AddAlong(graph, node, DType::kF64, numbers, rank, axis);
  };
  Value* y = AddBefore(graph, node, Op::kMul, {CastTo(graph, node, x.base, DType::kF64), along(factors)});
  if (std::ranges::any_of(offsets, [](double offset) { return offset != 0; }))
    y = AddBefore(graph, node, Op::kAdd, {y, along(offsets)});
  // Whole numbers are rounded too, so that WholeDoubles() recognizes them; that costs an instruction.
  return AddBefore(graph, node, Op::kFloor, {y});
}

double LargestIn(const Tensor& constant) {
  double largest = 0;
  for (const double number : ToDoubles(constant)) largest = std::max(largest, std::abs(number));
  return largest;
}

// An upper bound of the magnitudes of a value that is made of 8-bit integers, or of products of such
// integers, with constant offsets and factors, by at most `depth` operators; infinity for any other value.
double LargestIn(const Value* value, int depth = kMaxDepth) {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  constexpr double kByte = 255;
  if (Is8Bit(value->type().dtype)) return kByte;
  const Node* node = value->producer();
  if (node == nullptr || depth == 0) return kUnbounded;
  if (node->op() == Op::kCast) return LargestIn(node->input(0), depth - 1);
  const Tensor* constant =
      node->num_inputs() < 2 || node->input(1) == nullptr ? nullptr : node->input(1)->constant();
  if (constant == nullptr) return kUnbounded;
  switch (node->op()) {
    case Op::kAdd:
    case Op::kSub:
      return LargestIn(node->input(0), depth - 1) + LargestIn(*constant);
    case Op::kMul:
      return LargestIn(node->input(0), depth - 1) * LargestIn(*constant);
    case Op::kConvInteger:
    case Op::kMatMulInteger: {
      const Shape& weights = constant->shape();
      const int64_t terms = node->op() == Op::kConvInteger
                                ? constant->num_elements() / std::max<int64_t>(weights[0], 1)
                                : weights[weights.size() - (node->attrs().Bool("transpose_b") ? 1 : 2)];
      return kByte * kByte * static_cast<double>(terms);
    }
    default:
      return kUnbounded;
  }
}

// Does both roundings in integers. With s binary places in between, the product x m / 2³¹, rounded ties
// upwards, is
//   p = x + x (2m - 2³²) / 2³²,
// where mul_high computes the second term. p / 2ˢ, rounded away from zero, is
//   (p + 2ˢ⁻¹ - [p < 0]) >> s,
// where [p < 0] does not matter if numbers below zero saturate. nullptr where numbers do not fit into 32
// bits on the way, or a multiplier is not below 1.
Value* RequantizedInIntegers(Graph& graph, Node* node) {
  constexpr double kMostSum = 0x1p30;
  constexpr int kMostPlaces = 21;
  const DType to = node->attrs().Type("to");
  const std::optional<int64_t> zero = ZeroPointOf(*node, 2);
  if (!Is8Bit(to) || !zero || !(LargestIn(node->input(0)) < kMostSum)) return nullptr;
  const double low = to == DType::kI8 ? -128 : 0;
  const bool is_signed = static_cast<double>(*zero) != low;
  std::vector<double> factors, offsets, places;
  for (const double scale : ToDoubles(*node->input(1)->constant())) {
    const QuantizedMultiplier multiplier = QuantizedMultiplier::Of(scale);
    const int s = multiplier.first_places();
    if (multiplier.mantissa == 0 || multiplier.shift > 0 || s > kMostPlaces || (is_signed && s == 0))
      return nullptr;
    factors.push_back(static_cast<double>(2 * multiplier.mantissa) - 0x1p32);
    offsets.push_back((s == 0 ? 0 : std::ldexp(1, s - 1)) + std::ldexp(static_cast<double>(*zero), s));
    places.push_back(s);
  }
  const int rank = node->output()->type().rank();
  const auto along = [&](const std::vector<double>& numbers) {
    return AddAlong(graph, node, DType::kI32, numbers, rank, node->attrs().Int("axis", 1));
  };
  Value* x = node->input(0);
  Value* product =
      AddBefore(graph, node, Op::kAdd, {AddBefore(graph, node, Op::kMulHigh, {x, along(factors)}), x});
  if (is_signed) {
    constexpr double kSign = 31;
    Value* below_zero = AddBefore(graph, node, Op::kShiftRight, {product, along({kSign})});
    product = AddBefore(graph, node, Op::kAdd, {product, below_zero});
  }
  Value* y = AddBefore(graph, node, Op::kAdd, {product, along(offsets)});
  y = AddBefore(graph, node, Op::kShiftRight, {y, along(places)});
  y = AddBefore(graph, node, Op::kClip, {y}, {{"min", ExactNumber(low)}, {"max", ExactNumber(low + 255)}});
  return CastTo(graph, node, y, to);
}

// Rounds the product, which has more digits than a float, as a double, ties upwards. Then rounds that half
// away from zero, as a float if a float holds 8 bits and the binary places that are left.
Value* RequantizedInFixedPoint(Graph& graph, Node* node) {
  const DType to = node->attrs().Type("to");
  std::vector<double> factors = ToDoubles(*node->input(1)->constant()), rest;
  int places = 0;
  for (double& factor : factors) {
    const QuantizedMultiplier multiplier = QuantizedMultiplier::Of(factor);
    factor = std::ldexp(multiplier.value(), multiplier.first_places());
    rest.push_back(std::ldexp(1, -multiplier.first_places()));
    places = std::max(places, multiplier.first_places());
  }
  const int rank = node->output()->type().rank();
  const int64_t axis = node->attrs().Int("axis", 1);
  Value* x = RoundedProduct(graph, node, std::move(factors), rank, axis);
  if (places > 0) {
    constexpr int kFloatPlaces = 15;
    const bool fits = DTypeSize(to) == 1 && places <= kFloatPlaces;
    for (double& factor : rest) factor *= fits ? kAwayFromZero : 1 + 0x1p-52;
    const DType dtype = fits ? DType::kF32 : DType::kF64;
    x = CastTo(graph, node, x, dtype);
    x = AddBefore(graph, node, Op::kMul, {x, AddAlong(graph, node, dtype, rest, rank, axis)});
    x = AddBefore(graph, node, Op::kRound, {x});
  }
  // Numbers that a float does not hold saturate.
  if (to != DType::kI32) x = CastTo(graph, node, x, DType::kF32);
  return Saturated(graph, node, x);
}

// The product with numbers of f64, rounded half away from zero. The factors are 1 + 2⁻⁵¹ times as large,
// which moves a tie, and next to nothing else.
Value* RequantizedInDoubles(Graph& graph, Node* node) {
  std::vector<double> factors = ToDoubles(*node->input(1)->constant());
  for (double& factor : factors) factor *= 1 + 0x1p-51;
  const int rank = node->output()->type().rank();
  Value* x = CastTo(graph, node, node->input(0), DType::kF64);
  x = AddBefore(graph, node, Op::kMul,
                {x, AddAlong(graph, node, DType::kF64, factors, rank, node->attrs().Int("axis", 1))});
  x = AddBefore(graph, node, Op::kRound, {x});
  // Numbers that a float does not hold saturate.
  if (node->attrs().Type("to") != DType::kI32) x = CastTo(graph, node, x, DType::kF32);
  return Saturated(graph, node, x);
}

// A sum of 64 bits times a mantissa of 15 bits, rounded once, in integers.
Value* RequantizedInWideIntegers(Graph& graph, Node* node) {
  const std::optional<int64_t> zero = ZeroPointOf(*node, 2);
  if (!zero) return nullptr;
  std::vector<double> factors, halves, places;
  for (const double scale : ToDoubles(*node->input(1)->constant())) {
    const QuantizedMultiplier multiplier = QuantizedMultiplier::Of(scale);
    if (multiplier.short_places() < 1) return nullptr;
    factors.push_back(static_cast<double>(multiplier.short_mantissa()));
    halves.push_back(std::ldexp(1, multiplier.short_places() - 1));
    places.push_back(multiplier.short_places());
  }
  const int rank = node->output()->type().rank();
  const auto along = [&](const std::vector<double>& numbers) {
    return AddAlong(graph, node, DType::kI64, numbers, rank, node->attrs().Int("axis", 1));
  };
  Value* y = AddBefore(graph, node, Op::kMul, {node->input(0), along(factors)});
  y = AddBefore(graph, node, Op::kAdd, {y, along(halves)});
  y = AddBefore(graph, node, Op::kShiftRight, {y, along(places)});
  if (*zero != 0) y = AddBefore(graph, node, Op::kAdd, {y, along({static_cast<double>(*zero)})});
  const DType to = node->attrs().Type("to");
  const double values = std::ldexp(1, 8 * DTypeSize(to)), low = IsSignedInt(to) ? -values / 2 : 0;
  y = AddBefore(graph, node, Op::kClip, {y},
                {{"min", ExactNumber(low)}, {"max", ExactNumber(low + values - 1)}});
  return CastTo(graph, node, y, to);
}

Value* Requantized(Graph& graph, Node* node) {
  const Value* scale = node->input(1);
  if (scale->type().dtype != DType::kF64 || scale->constant() == nullptr) return nullptr;
  if (node->attrs().String("rounding", "half_even") != "fixed_point")
    return RoundsHalfAway(*node) ? RequantizedInDoubles(graph, node) : nullptr;
  if (node->input(0)->type().dtype == DType::kI64) return RequantizedInWideIntegers(graph, node);
  Value* in_integers = RequantizedInIntegers(graph, node);
  return in_integers != nullptr ? in_integers : RequantizedInFixedPoint(graph, node);
}

// nullptr: the node stays.
Value* Decomposed(Graph& graph, Node* node) {
  switch (node->op()) {
    case Op::kRequantize:
      return Requantized(graph, node);
    // 16-bit floats have too few digits for the intermediate results. Ties away from zero are the kernel's: a
    // factor that moves them moves their neighbours too.
    case Op::kQuantize:
      return node->input(0)->type().dtype == DType::kF32 && !RoundsHalfAway(*node) ? Quantized(graph, node)
                                                                                   : nullptr;
    case Op::kDequantize:
      return node->output()->type().dtype == DType::kF32 ? Dequantized(graph, node) : nullptr;
    default:
      return nullptr;
  }
}

bool Decompose(Graph& graph, Node* node) {
  if (node->attrs().Int("block_size", 0) != 0) return false;
  Value* result = Decomposed(graph, node);
  if (result == nullptr || result->type() != node->output()->type()) return false;
  ReplaceNode(graph, node, result);
  return true;
}

}  // namespace

absl::StatusOr<bool> DecomposeQuantizationPass(Graph& graph, const PassContext&) {
  return ForEachNode(graph, Decompose);
}

}  // namespace attune
