// Conversions from real numbers to integers and back.
#include <algorithm>
#include <cmath>

#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

// Converts between i16 and i32, which programs use for inputs and outputs that are sums: the same numbers
// with another scale.
Value* RescaleSum(OpContext& c) {
  const DType from = c.InType(0);
  const DType to = c.OutType();
  Value* x = c.Cast(c.Stored(0), DType::kI32);
  if (const int64_t zero = c.InZero(0)) x = c.Sub(x, c.Scalar(DType::kI32, zero));
  const double ratio = c.InScale(0) / c.OutScale();
  if (from == DType::kI32) return c.FixedPoint(x, {ratio});
  Value* y = c.FixedPointTo(x, {ratio}, 0, to, 0);
  const int64_t zero = c.OutZero();
  return zero == 0 ? y : c.Add(y, c.Scalar(to, zero));
}

bool IsSum(const schema::Tensor& tensor) {
  return tensor.type() == schema::TensorType::INT32 && QuantizationOf(tensor).has_value();
}

}  // namespace

// From integers: the same numbers with another scale, in fixed point.
Outputs QuantizeTensor(OpContext& c) {
  const bool from_sum = IsSum(c.InTensor(0)) && c.OutQuantized() && IsSignedInt(c.OutType());
  const bool to_sum = IsSum(c.OutTensor()) && c.InQuantized(0) && c.InType(0) == DType::kI16;
  if (from_sum || to_sum) return {RescaleSum(c)};
  if (!c.OutQuantized()) Unsupported("an output of ", TypeName(c.OutTensor().type()), " without a scale");
  if (!c.InQuantized(0)) return {c.ToOutput(c.Stored(0))};
  if (OpContext::SameQuantization(c.InTensor(0), c.OutTensor())) return {c.Stored(0)};
  return {c.FixedPoint(c.Centered(0), {c.InScale(0) / c.OutScale()})};
}

// 16-bit weights become f32 constants here, since they are later transposed as constants.
Outputs DequantizeTensor(OpContext& c) {
  Value* x = c.Stored(0);
  if (!IsFloat(x->type().dtype)) return {c.Real(0)};
  const Tensor* data = x->constant();
  if (data == nullptr) return {c.Cast(x, DType::kF32)};
  Tensor widened = c.NewTable(DType::kF32, data->shape());
  for (int64_t i = 0; i < data->num_elements(); ++i) widened.SetDouble(i, data->ToDouble(i));
  return {c.Constant(std::move(widened))};
}

// Rounds to the numbers that integers of num_bits can represent between min and max, after moving these so
// that zero can be represented.
Outputs FakeQuant(OpContext& c) {
  const auto& options = c.Options<schema::FakeQuantOptions>();
  const int bits = options.num_bits();
  const float lowest = options.narrow_range() ? 1 : 0;
  if (bits < 2 || bits > 16 || !(options.min() < options.max()))
    Invalid("its range or number of bits is not one");
  const float highest = static_cast<float>((1 << bits) - 1);
  const float scale = (options.max() - options.min()) / (highest - lowest);
  const float zero = std::clamp(std::round(lowest - options.min() / scale), lowest, highest);
  const double min = static_cast<double>((lowest - zero) * scale);
  const double max = static_cast<double>((highest - zero) * scale);
  Value* steps = c.Mul(c.Add(c.Clip(c.In(0), min, max), -min), static_cast<double>(1 / scale));
  Value* rounded = c.Emit(Op::kFloor, {c.Add(steps, 0.5)});
  return {c.Add(c.Mul(rounded, static_cast<double>(scale)), min)};
}

}  // namespace attune::tflite
