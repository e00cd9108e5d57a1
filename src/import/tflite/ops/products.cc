#include "import/tflite/ops/products.h"

#include <algorithm>

namespace attune::tflite {
namespace {

bool IsByte(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8; }

// s_x s_w, without the scale of the output.
double ScaleProduct(const ProductInputs& p, double x, double weight) {
  if (!p.single) return x * weight;
  return static_cast<double>(static_cast<float>(x) * static_cast<float>(weight));
}

}  // namespace

bool IsIntegerProduct(OpContext& c, const ProductInputs& p) {
  return c.InQuantized(p.x) && c.InQuantized(p.weight) && IsByte(c.InType(p.x)) &&
         IsByte(c.InType(p.weight)) && c.OutQuantized();
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
    Value* bias = c.Cast(c.Stored(p.bias), DType::kI32);
    acc = c.Add(acc, AlongAxis(c, bias, axis, acc->type().rank()));
  }
  std::vector<double> multipliers;
  for (float scale : weight.scales) {
    multipliers.push_back(ScaleProduct(p, c.InScale(p.x), scale) / c.OutScale());
  }
  return c.Activate(c.FixedPoint(acc, multipliers, axis), activation);
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
