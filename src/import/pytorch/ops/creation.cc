// Tensors that are created from numbers alone.
#include <algorithm>
#include <cmath>

#include "import/common/listed_operator.h"
#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

constexpr int64_t kMaxStored = 4096;

DType TypeOf(const Number& number) {
  if (std::holds_alternative<bool>(number)) return DType::kBool;
  return std::holds_alternative<int64_t>(number) ? DType::kI64 : DType::kF32;
}

// start, start + step, … of integers, which wrap.
Value* IntegerProgression(OpContext& c, DType dtype, int64_t count, int64_t start, int64_t step) {
  return c.Cast(c.Add(c.Mul(c.Count(DType::kI64, count), step), start), dtype);
}

// start, start + step, …: stored as a table if it is short.
Value* Progression(OpContext& c, DType dtype, int64_t count, double start, double step) {
  if (count > kMaxStored) {
    Value* steps = c.Mul(c.Count(DType::kF64, count), step);
    return c.Cast(c.Add(steps, start), dtype);
  }
  Tensor values = c.NewTable(dtype, {count});
  for (int64_t i = 0; i < count; ++i) values.SetDouble(i, start + static_cast<double>(i) * step);
  return c.Constant(std::move(values));
}

Number NumberOr(OpContext& c, const char* name, int64_t absent) {
  return c.Has(name) ? c.Num(name) : Number(absent);
}

}  // namespace

Outputs Arange(OpContext& c) {
  const Number first = NumberOr(c, "start", 0);
  const Number last = c.Num("end");
  const Number step = NumberOr(c, "step", 1);
  bool whole = true;
  for (const Number* number : {&first, &last, &step}) whole &= !std::holds_alternative<double>(*number);
  const DType dtype = c.OptionalType("dtype").value_or(whole ? DType::kI64 : DType::kF32);
  if (ToDouble(step) == 0) Invalid("its step is 0");
  const int64_t count = CountSteps(Exact(first), Exact(last), Exact(step));
  if (whole && !IsFloat(dtype)) return {IntegerProgression(c, dtype, count, ToInt(first), ToInt(step))};
  return {Progression(c, dtype, count, ToDouble(first), ToDouble(step))};
}

Outputs Linspace(OpContext& c) {
  const int64_t steps = CheckedSize(c.Int("steps"), "number of steps");
  const double start = c.Float("start");
  const double step = steps > 1 ? (c.Float("end") - start) / static_cast<double>(steps - 1) : 0;
  return {Progression(c, c.OptionalType("dtype").value_or(DType::kF32), steps, start, step)};
}

Outputs Full(OpContext& c) {
  const Number value = c.Num("fill_value");
  return {c.Broadcast(c.As(value, c.OptionalType("dtype").value_or(TypeOf(value))), c.IntList("size"))};
}

Outputs FullLike(OpContext& c) {
  const DType dtype = c.OptionalType("dtype").value_or(c.InType("self"));
  return {c.Broadcast(c.As(c.Num("fill_value"), dtype), c.InShape("self"))};
}

Outputs NewFull(OpContext& c) {
  const DType dtype = c.OptionalType("dtype").value_or(c.InType("self"));
  return {c.Broadcast(c.As(c.Num("fill_value"), dtype), c.IntList("size"))};
}

Outputs Filled(OpContext& c, double value) {
  return {c.Filled(c.OptionalType("dtype").value_or(DType::kF32), value, c.IntList("size"))};
}

Outputs FilledLike(OpContext& c, double value) {
  return {c.Filled(c.OptionalType("dtype").value_or(c.InType("self")), value, c.InShape("self"))};
}

Outputs NewFilled(OpContext& c, double value) {
  return {c.Filled(c.OptionalType("dtype").value_or(c.InType("self")), value, c.IntList("size"))};
}

// In place; the value is a number, or a tensor without dimensions.
Outputs FillInto(OpContext& c) {
  return {c.Broadcast(c.As(c.Either("value"), c.InType("self")), c.InShape("self"))};
}

Outputs ScalarTensor(OpContext& c) {
  return {c.As(c.Num("s"), c.OptionalType("dtype").value_or(DType::kF32))};
}

Outputs Eye(OpContext& c) {
  const int64_t rows = CheckedSize(c.Int("n"), "number of rows");
  Value* row = c.Reshape(c.Count(DType::kI64, rows), {rows, 1});
  Value* column = c.Count(DType::kI64, CheckedSize(c.Int("m", rows), "number of columns"));
  return {c.Cast(c.Emit(Op::kEqual, {row, column}), c.OptionalType("dtype").value_or(DType::kF32))};
}

Outputs RandomNumbers(OpContext&) { Unsupported(kMakesRandomNumbers); }

}  // namespace attune::pytorch
