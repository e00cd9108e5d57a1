#include "import/tflite/ops/integers.h"

#include <algorithm>

#include "import/tflite/tensors.h"

namespace attune::tflite {
namespace {

// The position of each integer of `input` in a table that begins with the least one.
Value* Position(OpContext& c, int input) {
  Value* x = c.Cast(c.Stored(input), DType::kI32);
  const int64_t low = RangeOf(c.InType(input)).min;
  return low == 0 ? x : c.Sub(x, c.ScalarLike(x, low));
}

int64_t SaturatedResult(OpContext& c, int64_t result) {
  const IntegerRange range = RangeOf(c.OutType());
  return std::clamp(result + c.OutZero(), range.min, range.max);
}

}  // namespace

bool IsQuantizedUnary(OpContext& c) {
  return c.InQuantized(0) && c.OutQuantized() && c.InType(0) == c.OutType();
}

bool IsWordUnary(OpContext& c) {
  return IsQuantizedUnary(c) && c.InType(0) == DType::kI16 && c.InZero(0) == 0 && c.OutZero() == 0;
}

Value* Lookup(OpContext& c, int input, const std::function<int64_t(int64_t)>& function) {
  const IntegerRange range = RangeOf(c.InType(input));
  Tensor table = c.NewTable(c.OutType(), {range.max - range.min + 1});
  for (int64_t x = range.min; x <= range.max; ++x)
    table.SetInt(x - range.min, SaturatedResult(c, function(x)));
  return c.Gather(c.Constant(std::move(table)), Position(c, input), 0);
}

Value* LookupPair(OpContext& c, const std::function<int64_t(int64_t, int64_t)>& function) {
  const IntegerRange first = RangeOf(c.InType(0)), second = RangeOf(c.InType(1));
  const int64_t columns = second.max - second.min + 1;
  Tensor table = c.NewTable(c.OutType(), {(first.max - first.min + 1) * columns});
  int64_t index = 0;
  for (int64_t a = first.min; a <= first.max; ++a) {
    for (int64_t b = second.min; b <= second.max; ++b)
      table.SetInt(index++, SaturatedResult(c, function(a, b)));
  }
  Value* place = c.Add(c.Mul(Position(c, 0), columns), Position(c, 1));
  return c.Gather(c.Constant(std::move(table)), place, 0);
}

Value* Wide(OpContext& c, Value* x) { return c.Cast(x, DType::kI64); }

Value* HighProduct(OpContext& c, Value* a, Value* b) {
  Value* product = c.Add(c.Mul(Wide(c, a), Wide(c, b)), 0x1p30);
  return c.Emit(Op::kShiftRight, {product, c.ScalarLike(product, 31)});
}

// (x + half - [x < 0]) >> places, where half is 2^places / 2. Without places nothing is added.
Value* RoundedShift(OpContext& c, Value* x, Value* places) {
  x = Wide(c, x);
  places = Wide(c, places);
  const auto shift = [&](Value* value, Value* by) { return c.Emit(Op::kShiftRight, {value, by}); };
  Value* one = c.ScalarLike(x, 1);
  Value* rounds = c.Cast(c.Emit(Op::kGreater, {places, c.ScalarLike(x, 0)}), DType::kI64);
  Value* unit =
      c.Cast(c.Emit(Op::kShiftLeft, {c.Cast(one, DType::kU64), c.Cast(places, DType::kU64)}), DType::kI64);
  Value* below_zero = c.Mul(shift(x, c.ScalarLike(x, 63)), rounds);
  return shift(c.Add(c.Add(x, shift(unit, one)), below_zero), places);
}

Value* Scaled(OpContext& c, Value* x, const QuantizedMultiplier& by) {
  x = Wide(c, x);
  if (by.shift > 0) x = c.Mul(x, int64_t{1} << by.shift);
  Value* product = HighProduct(c, x, c.ScalarLike(x, by.mantissa));
  const int places = by.first_places();
  return places == 0 ? product : RoundedShift(c, product, c.ScalarLike(x, places));
}

Value* Saturated(OpContext& c, Value* x) {
  const IntegerRange range = RangeOf(c.OutType());
  x = c.Add(Wide(c, x), c.OutZero());
  x = c.Clip(x, range.min, range.max);
  return c.Cast(x, c.OutType());
}

}  // namespace attune::tflite
