#include "import/tflite/ops/products.h"

#include <algorithm>

namespace attune::tflite {
namespace {

bool IsByte(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8; }

bool IsFactor(OpContext& c, int i) {
  if (!c.InQuantized(i)) return false;
  if (IsByte(c.InType(i))) return true;
  const Ints zeros = c.InQuantization(i).zeros;
  return c.InType(i) == DType::kI16 &&
         std::all_of(zeros.begin(), zeros.end(), [](int64_t z) { return z == 0; });
}

// Splits each factor of 16 bits in turn.
Value* SplitSum(OpContext& c, Value* x, Value* w, Value* x_zero, Value* w_zero, const SumOfProducts& sum) {
  const auto halves = [&c](Value* words, const std::function<Value*(Value*)>& sum_of) {
    constexpr double kByte = 256;
    Value* wide = c.Cast(words, DType::kI32);
    Value* high = c.Emit(Op::kShiftRight, {wide, c.ScalarLike(wide, 8)});
    Value* low = c.Sub(wide, c.Mul(high, kByte));
    Value* upper = c.Cast(sum_of(c.Cast(high, DType::kI8)), DType::kI64);
    return c.Add(c.Mul(upper, kByte), c.Cast(sum_of(c.Cast(low, DType::kU8)), DType::kI64));
  };
  if (x->type().dtype == DType::kI16)
    return halves(x, [&](Value* part) { return SplitSum(c, part, w, nullptr, w_zero, sum); });
  if (w->type().dtype == DType::kI16)
    return halves(w, [&](Value* part) { return SplitSum(c, x, part, x_zero, nullptr, sum); });
  return sum(x, w, x_zero, w_zero);
}

// s_x s_w, without the scale of the output.
double ScaleProduct(const ProductInputs& p, double x, double weight) {
  if (!p.single) return x * weight;
  return static_cast<double>(static_cast<float>(x) * static_cast<float>(weight));
}

}  // namespace

bool IsIntegerProduct(OpContext& c, const ProductInputs& p) {
  return IsFactor(c, p.x) && IsFactor(c, p.weight) && c.OutQuantized();
}

Value* IntegerSum(OpContext& c, Value* x, Value* w, const ProductInputs& p, const SumOfProducts& sum) {
  return SplitSum(c, x, w, InputZero(c, p), WeightZero(c, p), sum);
}

Value* InputZero(OpContext& c, const ProductInputs& p) {
  const int64_t zero = c.InZero(p.x);
  return zero == 0 ? nullptr : c.Scalar(c.InType(p.x), zero);
}

Value* WeightZero(OpContext& c, const ProductInputs& p) {
  const Ints zeros = c.InQuantization(p.weight).zeros;
  const DType dtype = c.InType(p.weight);
  if (std::all_of(zeros.begin(), zeros.end(), [](int64_t zero) { return zero == 0; })) return nullptr;
  if (std::all_of(zeros.begin(), zeros.end(), [&](int64_t zero) { return zero == zeros[0]; })) {
    return c.Scalar(dtype, zeros[0]);
  }
  return c.NewConstant(Tensor::FromInts(zeros, dtype));
}

Value* AlongAxis(OpContext& c, Value* x, int64_t axis, int64_t rank) {
  if (x->type().rank() != 1) Invalid("a value per channel has rank 1, not ", ToString(x->type()));
  Shape shape(rank - axis, 1);
  shape[0] = c.DimOf(x, 0);
  return c.ReshapeStored(x, shape);
}

Value* FinishIntegerProduct(OpContext& c, Value* acc, const ProductInputs& p, int64_t axis,
                            int64_t weight_axis, Activation activation) {
  const Quantization weight = c.InQuantization(p.weight);
  if (weight.per_channel() && weight.axis != weight_axis) {
    Unsupported("weights with scales along axis ", weight.axis, " instead of ", weight_axis);
  }
  if (c.HasInput(p.bias)) {
    Value* bias = c.Stored(p.bias);
    // A bias of 32 bits goes with a sum of 32 bits.
    if (bias->type().dtype != DType::kI64) acc = c.Cast(acc, DType::kI32);
    bias = c.Cast(bias, acc->type().dtype);
    acc = c.Add(acc, AlongAxis(c, bias, axis, acc->type().rank()));
  }
  std::vector<double> multipliers;
  for (float scale : weight.scales) {
    multipliers.push_back(ScaleProduct(p, c.InScale(p.x), scale) / c.OutScale());
  }
  Value* y = p.in_doubles ? c.InDoubles(acc, multipliers, axis) : c.FixedPoint(acc, multipliers, axis);
  return c.Activate(y, activation);
}

Value* RealBias(OpContext& c, const ProductInputs& p) {
  if (!c.HasInput(p.bias)) return nullptr;
  Value* bias = c.Stored(p.bias);
  if (IsFloat(bias->type().dtype)) return c.Cast(bias, DType::kF32);
  const Quantization weight = c.InQuantization(p.weight);
  const double x = c.InScale(p.x);
  Tensor scales(DType::kF32, {static_cast<int64_t>(weight.scales.size())});
  for (size_t i = 0; i < weight.scales.size(); ++i) {
    scales.SetDouble(static_cast<int64_t>(i), x * static_cast<double>(weight.scales[i]));
  }
  return c.Mul(c.Cast(bias, DType::kF32), c.NewConstant(scales));
}

}  // namespace attune::tflite
