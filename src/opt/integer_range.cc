#include "opt/integer_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "graph/index_bounds.h"

namespace attune {
namespace {

using Wide = __int128;

// How long a chain of operators is followed.
constexpr int kMaxDepth = 64;
// Products of two of these do not overflow.
constexpr Wide kInfinity = Wide{1} << 62;

// The range of a type. Floats beyond the integers that indices can be count as infinite.
IntegerRange RangeOfType(DType dtype) {
  if (dtype == DType::kBool) return {0, 1};
  if (IsFloat(dtype)) return {-kInfinity * 4, kInfinity * 4};
  const int bits = 8 * DTypeSize(dtype);
  if (IsUnsignedInt(dtype)) return {0, (Wide{1} << bits) - 1};
  return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
}

IntegerRange Union(const IntegerRange& a, const IntegerRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// A result that wraps where the type does not hold it.
IntegerRange Wrapped(const IntegerRange& range, DType dtype) {
  const IntegerRange type = RangeOfType(dtype);
  return range.IsWithin(type.low, type.high) ? range : type;
}

// A float result that is rounded: integers beyond those that the type has all of can become others.
IntegerRange Rounded(const IntegerRange& range, DType dtype) {
  const IntegerRange type = RangeOfType(dtype);
  const auto exact = static_cast<Wide>(1 / UnitRoundoff(dtype));
  return {range.low < -exact ? type.low : std::min(range.low, exact),
          range.high > exact ? type.high : std::max(range.high, -exact)};
}

IntegerRange Stored(const IntegerRange& range, DType dtype) {
  return IsFloat(dtype) ? Rounded(range, dtype) : Wrapped(range, dtype);
}

// A result that saturates.
IntegerRange Saturated(const IntegerRange& range, DType dtype) {
  const IntegerRange type = RangeOfType(dtype);
  return {std::clamp(range.low, type.low, type.high), std::clamp(range.high, type.low, type.high)};
}

// The integers next to a number: itself, twice, if it is one.
IntegerRange Around(const ExactNumber& number) {
  const auto to_wide = [](auto value) {
    if constexpr (std::is_integral_v<decltype(value)>) return static_cast<Wide>(value);
    const IntegerRange type = RangeOfType(DType::kF64);
    const auto low = static_cast<double>(type.low), high = static_cast<double>(type.high);
    return static_cast<Wide>(std::clamp(static_cast<double>(value), low, high));
  };
  return {number.Floor().Visit(to_wide), number.Ceil().Visit(to_wide)};
}

bool IsFinite(const IntegerRange& range) { return range.IsWithin(-kInfinity, kInfinity); }

IntegerRange Product(const IntegerRange& a, const IntegerRange& b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

// For integers, by positive ones.
IntegerRange Remainder(const IntegerRange& a, const IntegerRange& b, bool truncates) {
  const Wide most = b.high - 1;
  if (truncates) return {a.low >= 0 ? 0 : std::max(a.low, -most), a.high <= 0 ? 0 : std::min(a.high, most)};
  return {0, a.low >= 0 ? std::min(a.high, most) : most};
}

// The largest number that has as many bits as a nonnegative one.
Wide AllBitsOf(Wide number) {
  Wide all = 0;
  while (all < number) all = 2 * all + 1;
  return all;
}

// The limits of a clip, rounded outwards to integers.
IntegerRange Limits(const Node& clip) {
  const double kEverything = std::numeric_limits<double>::infinity();
  return {Around(clip.attrs().Number("min", -kEverything)).low,
          Around(clip.attrs().Number("max", kEverything)).high};
}

IntegerRange Clipped(const IntegerRange& x, const IntegerRange& limits) {
  // The maximum wins.
  return {std::min(std::max(x.low, limits.low), limits.high),
          std::min(std::max(x.high, limits.low), limits.high)};
}

IntegerRange Casted(const IntegerRange& x, DType from, DType to) {
  if (to == DType::kBool) return {0, 1};
  if (!IsFloat(from) || IsFloat(to)) return Stored(x, to);
  return Saturated(Union(x, {0, 0}), to);  // NaN becomes 0
}

// For operators of integers, and of floats where they keep a whole number whole. nullopt: anything.
std::optional<IntegerRange> Calculated(const Node& node, const std::vector<IntegerRange>& x) {
  const bool is_float = IsFloat(node.input(0)->type().dtype);
  switch (node.op()) {
    case Op::kIdentity:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
      return x[0];
    case Op::kCast:
      return Casted(x[0], node.input(0)->type().dtype, node.output()->type().dtype);
    case Op::kClip:
      return Clipped(x[0], Limits(node));
    case Op::kRelu:
      return IntegerRange{std::max<Wide>(x[0].low, 0), std::max<Wide>(x[0].high, 0)};
    case Op::kMin:
      return IntegerRange{std::min(x[0].low, x[1].low), std::min(x[0].high, x[1].high)};
    case Op::kMax:
      return IntegerRange{std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
    case Op::kWhere:
      return Union(x[1], x[2]);
    default:
      break;
  }
  if (is_float || !std::ranges::all_of(x, IsFinite)) return std::nullopt;
  switch (node.op()) {
    case Op::kNeg:
      return IntegerRange{-x[0].high, -x[0].low};
    case Op::kAbs:
      return IntegerRange{x[0].low > 0    ? x[0].low
                          : x[0].high < 0 ? -x[0].high
                                          : 0,
                          std::max(-x[0].low, x[0].high)};
    case Op::kAdd:
      return IntegerRange{x[0].low + x[1].low, x[0].high + x[1].high};
    case Op::kSub:
      return IntegerRange{x[0].low - x[1].high, x[0].high - x[1].low};
    case Op::kMul:
      return Product(x[0], x[1]);
    case Op::kDiv:
      if (x[1].low <= 0) return std::nullopt;
      return Union({x[0].low / x[1].low, x[0].high / x[1].low},
                   {x[0].low / x[1].high, x[0].high / x[1].high});
    case Op::kMod:
      if (x[1].low <= 0) return std::nullopt;
      return Remainder(x[0], x[1], node.attrs().Bool("truncate"));
    case Op::kAnd:
      if (x[0].low < 0 || x[1].low < 0) return std::nullopt;
      return IntegerRange{0, std::min(x[0].high, x[1].high)};
    case Op::kXor:
      if (x[0].low < 0 || x[1].low < 0) return std::nullopt;
      return IntegerRange{0, AllBitsOf(std::max(x[0].high, x[1].high))};
    case Op::kLess:
      return IntegerRange{x[0].high < x[1].low ? 1 : 0, x[0].low < x[1].high ? 1 : 0};
    default:
      return std::nullopt;
  }
}

// The axis at which all elements of a slice or of what a gather selects have one position, if the operator
// takes one position of several.
int SinglePosition(const TensorType& from, const Shape& taken) {
  for (size_t d = 0; d < taken.size(); ++d) {
    if (taken[d] == 1 && from.dims[d].size > 1) return static_cast<int>(d);
  }
  return -1;
}

IntegerRange UpTo(int64_t count) { return {0, std::max<int64_t>(count - 1, 0)}; }

}  // namespace

IntegerRange IntegerRanges::Of(const Value* value, int axis, int64_t position) {
  const auto key = std::make_tuple(value, axis, position);
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  if (depth_ == kMaxDepth) return RangeOfType(value->type().dtype);
  ++depth_;
  const IntegerRange range = Compute(value, axis, position);
  --depth_;
  return known_[key] = range;
}

IntegerRange IntegerRanges::Compute(const Value* value, int axis, int64_t position) {
  const IntegerRange anything = RangeOfType(value->type().dtype);
  if (value->constant() != nullptr) return OfConstant(value, axis, position);
  if (value->is_input()) {
    const auto assumed = assumed_.find(value);
    return assumed == assumed_.end() ? anything : assumed->second;
  }
  const Node& node = *value->producer();
  if (IsElementwise(node.op())) return OfElementwise(node, axis, position);
  switch (node.op()) {
    case Op::kReshape:
    case Op::kBroadcast:
    case Op::kTranspose:
    case Op::kSlice:
    case Op::kReverseSequence:
      return OfMovement(node, axis, position);
    case Op::kConcat:
      return OfConcat(node, axis, position);
    case Op::kGather:
    case Op::kGatherElements:
    case Op::kGatherNd:
      return OfGather(node);
    case Op::kCompress:
      return Union(Of(node.input(0)), {0, 0});
    case Op::kReduceMax:
    case Op::kReduceMin:
      return node.input(0)->type().num_elements() == 0 ? anything : Of(node.input(0));
    case Op::kCheckIndex:
      return OfChecked(node, axis, position);
    default:
      return IsInt(value->type().dtype) ? OfPositions(node, value->index(), axis, position) : anything;
  }
}

IntegerRange IntegerRanges::OfConstant(const Value* value, int axis, int64_t position) const {
  const Tensor& data = *value->constant();
  int64_t inner = 1, size = 1;
  for (int d = axis; axis >= 0 && d < data.rank(); ++d) (d == axis ? size : inner) *= data.shape()[d];
  const bool is_float = IsFloat(data.dtype());
  IntegerRange range = {RangeOfType(data.dtype()).high, RangeOfType(data.dtype()).low};
  for (int64_t i = 0; i < data.num_elements(); ++i) {
    if (axis >= 0 && i / inner % size != position) continue;
    if (is_float && std::isnan(data.ToDouble(i))) continue;
    range = Union(range, Around(data.ToNumber(i)));
  }
  return range.low <= range.high ? range : IntegerRange{0, 0};
}

IntegerRange IntegerRanges::OfElementwise(const Node& node, int axis, int64_t position) {
  const DType dtype = node.output()->type().dtype;
  std::vector<IntegerRange> operands;
  for (const Value* input : node.inputs()) {
    // Operands are aligned at their last axes, and one of size 1 is repeated.
    const int own = axis < 0 ? -1 : axis - (node.output()->type().rank() - input->type().rank());
    const bool repeats = own >= 0 && input->type().dims[static_cast<size_t>(own)].size == 1;
    operands.push_back(own < 0 ? Of(input) : Of(input, own, repeats ? 0 : position));
  }
  const std::optional<IntegerRange> range = Calculated(node, operands);
  return range.has_value() ? Stored(*range, dtype) : RangeOfType(dtype);
}

IntegerRange IntegerRanges::OfMovement(const Node& node, int axis, int64_t position) {
  const Value* x = node.input(0);
  if (node.op() == Op::kTranspose && axis >= 0)
    return Of(x, static_cast<int>(node.attrs().IntList("perm")[static_cast<size_t>(axis)]), position);
  if (node.op() == Op::kBroadcast && axis >= 0) {
    const int own = axis - (node.output()->type().rank() - x->type().rank());
    if (own < 0) return Of(x);
    return Of(x, own, x->type().dims[static_cast<size_t>(own)].size == 1 ? 0 : position);
  }
  if (node.op() != Op::kSlice) return Of(x);
  const Ints& starts = node.attrs().IntList("starts");
  if (axis < 0) {
    axis = SinglePosition(x->type(), node.attrs().IntList("sizes"));
    position = 0;
  }
  if (axis < 0) return Of(x);
  const auto at = static_cast<size_t>(axis);
  return Of(x, axis, starts[at] + position * node.attrs().IntList("steps")[at]);
}

IntegerRange IntegerRanges::OfConcat(const Node& node, int axis, int64_t position) {
  const bool is_split = axis == node.attrs().Int("axis");
  std::optional<IntegerRange> range;
  for (const Value* part : node.inputs()) {
    const int64_t size = part->type().dims[static_cast<size_t>(node.attrs().Int("axis"))].size;
    if (is_split && position < size) return Of(part, axis, position);
    if (is_split) {
      position -= size;
    } else if (part->type().num_elements() > 0) {
      const IntegerRange own = Of(part, axis, position);
      range = range.has_value() ? Union(*range, own) : own;
    }
  }
  return range.value_or(RangeOfType(node.output()->type().dtype));
}

// Elements of the data, all from one position if the index is one number.
IntegerRange IntegerRanges::OfGather(const Node& node) {
  const Value* x = node.input(0);
  const Tensor* index = node.input(1)->constant();
  if (node.op() != Op::kGather || index == nullptr || index->num_elements() != 1) return Of(x);
  const auto axis = static_cast<int>(node.attrs().Int("axis"));
  const int64_t size = x->type().dims[static_cast<size_t>(axis)].size;
  const int64_t position = index->ToInt(0) < 0 ? index->ToInt(0) + size : index->ToInt(0);
  return position < 0 || position >= size ? Of(x) : Of(x, axis, position);
}

// For operators that find positions. The rest of a dynamic result, up to its bound, is 0.
IntegerRange IntegerRanges::OfPositions(const Node& node, int output, int axis, int64_t position) const {
  const auto size = [&](int input, size_t d) { return node.input(input)->type().dims[d].size; };
  switch (node.op()) {
    case Op::kArgMax:
    case Op::kArgMin:
    case Op::kTopK:
      if (node.op() == Op::kTopK && output == 0) break;
      return UpTo(size(0, static_cast<size_t>(node.attrs().Int("axis"))));
    case Op::kNonZero: {
      const Shape shape = node.input(0)->type().shape();
      if (axis == 0) return UpTo(shape[static_cast<size_t>(position)]);
      return UpTo(shape.empty() ? 0 : *std::ranges::max_element(shape));
    }
    case Op::kNonMaxSuppression: {
      const int64_t counts[] = {size(1, 0), size(1, 1), size(1, 2)};  // batches, classes, boxes
      if (axis == 1) return UpTo(counts[position]);
      return UpTo(*std::ranges::max_element(counts));
    }
    case Op::kUnique:
      if (output != 1 && output != 2) break;
      return UpTo(node.input(0)->type().num_elements());
    default:
      break;
  }
  return RangeOfType(node.output(output)->type().dtype);
}

IntegerRange IntegerRanges::OfChecked(const Node& node, int axis, int64_t position) {
  const IndexBounds bounds = IndexOperandOf(node)->bounds;
  const bool is_column = axis == node.input(0)->type().rank() - 1;
  IntegerRange allowed = {0, 0};
  for (size_t i = 0; i < bounds.sizes.size(); ++i) {
    const int64_t size = bounds.sizes[i];
    if (is_column && bounds.sizes.size() > 1 && static_cast<int64_t>(i) != position) continue;
    allowed = Union(allowed, {bounds.Least(size), std::max<int64_t>(size - 1, 0)});
  }
  const IntegerRange x = Of(node.input(0), axis, position);
  return {std::max(x.low, allowed.low), std::min(x.high, allowed.high)};
}

}  // namespace attune
