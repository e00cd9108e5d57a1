// Functions of one integer of 8 or 16 bits. TensorFlow Lite computes them by tables, or by integer arithmetic
// that no formula in real numbers reproduces; here all are tables of every integer, made with the arithmetic
// of its reference kernels (tensorflow/lite/kernels/internal/common.h, LUTPopulate and LUTLookup, and
// internal/reference/integer_ops/{logistic,tanh}.h). Other types are computed in real numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "import/tflite/ops/fixed_point_functions.h"
#include "import/tflite/ops/integers.h"
#include "import/tflite/ops/interpolation.h"
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

using RealFunction = float (*)(float);

float SigmoidOf(float x) { return 1.0F / (1.0F + std::exp(-x)); }
float TanhOf(float x) { return std::tanh(x); }
float ExpOf(float x) { return std::exp(x); }
float EluOf(float x) { return x < 0 ? std::expm1(x) : x; }
float GeluOf(float x) { return 0.5F * x * std::erfc(x * -std::numbers::sqrt2_v<float> / 2); }
float TanhGeluOf(float x) {
  constexpr auto kSqrt2OverPi = static_cast<float>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  return 0.5F * x * (1 + std::tanh(kSqrt2OverPi * (x + 0.044715F * x * x * x)));
}

float FloatOf(double number) { return static_cast<float>(number); }

// The nearest integer in the range that a conversion takes, and the converter clamps afterwards.
int64_t Rounded(float number) {
  constexpr float kMost = 0x1p31F;
  return static_cast<int64_t>(std::clamp(std::round(number), -kMost, kMost));
}

// For 8 bits: the function of the number that the integer represents, rounded to the output's scale.
Value* ByteLookup(OpContext& c, const std::function<float(float)>& function) {
  const float scale = FloatOf(c.InScale(0)), inverse = 1 / FloatOf(c.OutScale());
  const int64_t zero = c.InZero(0);
  return Lookup(c, 0,
                [&](int64_t x) { return Rounded(function(scale * static_cast<float>(x - zero)) * inverse); });
}

Value* WordLookup(OpContext& c, const std::function<float(float)>& function) {
  const auto range = [](double scale) {
    return Interpolation<float>::Range{-32768 * FloatOf(scale), 32767 * FloatOf(scale)};
  };
  const Interpolation<float> table(function, range(c.InScale(0)), range(c.OutScale()));
  return Lookup(c, 0, [&](int64_t x) { return table[x]; });
}

// 1 / sqrt(x) with this many binary places.
int64_t ReciprocalRoot(int64_t x, int places) {
  if (x == 1) return QuantizedMultiplier{INT32_MAX, places}.Times(1);
  KnownIntegers integers;
  const auto root = ReciprocalRootOf(integers, x);
  const int64_t raised = std::max<int64_t>(-root.shift, 0), shift = std::max<int64_t>(root.shift, 0);
  return QuantizedMultiplier{root.mantissa << raised, places - static_cast<int>(shift)}.Times(1);
}

bool IsByteUnary(OpContext& c) {
  return IsQuantizedUnary(c) && (c.InType(0) == DType::kI8 || c.InType(0) == DType::kU8);
}

Outputs Table(OpContext& c, const std::function<float(float)>& function,
              const std::function<Value*()>& real) {
  if (IsByteUnary(c)) return {ByteLookup(c, function)};
  if (IsWordUnary(c)) return {WordLookup(c, function)};
  return {real()};
}

// The sigmoid and the hyperbolic tangent of 16 bits interpolate in a table of sigmoid(i / 24) of 16 binary
// places. The kernels' own table is nearly that of slightly larger steps, and off by one in seven places. The
// input is first multiplied so that its unit is 1 / 12288.
class SigmoidTable {
 public:
  explicit SigmoidTable(float scale, int most_pot_shift) {
    for (size_t i = 0; i < table_.size(); ++i) {
      table_[i] = std::llround(65536 / (1 + std::exp(-kStep * static_cast<double>(i))));
    }
    for (const size_t i : {4, 35, 255}) ++table_[i];
    for (const size_t i : {69, 71, 117, 174}) --table_[i];
    const float log2 = std::log(scale) * (1 / std::log(2.0F)), rounded = std::round(log2);
    shift_ = 12 + static_cast<int>(rounded);
    if (std::abs(log2 - rounded) < 1e-3F && shift_ >= 0 && shift_ <= most_pot_shift) {
      multiplier_ = int64_t{3} << shift_;
      shift_ = 0;
      return;
    }
    double multiplier = static_cast<double>(scale) * 4096.0 * 3.0;
    for (shift_ = 0; multiplier <= 32767.0 / 2.0 && shift_ <= 30; ++shift_) multiplier *= 2;
    multiplier_ = static_cast<int64_t>(multiplier);
  }

  int64_t Sigmoid(int64_t x) const {
    const int64_t fine = Fine(x), size = std::abs(fine), place = size >> 9;
    const int64_t result = place >= 255 ? int64_t{0x7FFF} << 10 : Interpolated(place, size & 0x1FF, 9);
    return (fine >= 0 ? result + (1 << 9) : (1 << 25) - result + (1 << 9) - 1) >> 10;
  }
  int64_t Tanh(int64_t x) const {
    const int64_t fine = Fine(x), size = std::abs(fine), place = size >> 8;
    const int64_t result = place >= 255 ? int64_t{0xFFFF} << 8 : Interpolated(place, size & 0xFF, 8);
    return (fine >= 0 ? result - (1 << 23) + (1 << 7) : -result + (1 << 23) + (1 << 7) - 1) >> 8;
  }

 private:
  int64_t Fine(int64_t x) const {
    const int64_t half = shift_ > 0 ? int64_t{1} << (shift_ - 1) : 0;
    return (x * multiplier_ + half) >> shift_;
  }
  int64_t Interpolated(int64_t place, int64_t fraction, int bits) const {
    const auto at = static_cast<size_t>(place);
    return table_[at] * (int64_t{1} << bits) + fraction * (table_[at + 1] - table_[at]);
  }

  static constexpr double kStep = (1 + 39.7e-6) / 24;

  std::array<int64_t, 256> table_ = {};
  int64_t multiplier_ = 0;
  int shift_ = 0;
};

}  // namespace

Outputs Logistic(OpContext& c) {
  if (!IsWordUnary(c)) return Table(c, SigmoidOf, [&] { return c.Emit(Op::kSigmoid, {c.Real(0)}); });
  const SigmoidTable table(FloatOf(c.InScale(0)), 0);
  return {Lookup(c, 0, [&](int64_t x) { return table.Sigmoid(x); })};
}

Outputs Tanh(OpContext& c) {
  if (!IsWordUnary(c)) return Table(c, TanhOf, [&] { return c.Emit(Op::kTanh, {c.Real(0)}); });
  const SigmoidTable table(FloatOf(c.InScale(0)), 1);
  return {Lookup(c, 0, [&](int64_t x) { return table.Tanh(x); })};
}

Outputs Exp(OpContext& c) {
  return Table(c, ExpOf, [&] { return c.Emit(Op::kExp, {c.Real(0)}); });
}

// Numbers without a logarithm get the least one of the output.
Outputs Log(OpContext& c) {
  const bool is_quantized = IsQuantizedUnary(c);
  const auto low = is_quantized ? static_cast<float>(RangeOf(c.OutType()).min - c.OutZero()) : 0;
  const float least = is_quantized ? low * FloatOf(c.OutScale()) : 0;
  return Table(
      c, [least](float x) { return x <= 0 ? least : std::log(x); },
      [&] { return c.Emit(Op::kLog, {c.Real(0)}); });
}

Outputs Elu(OpContext& c) {
  return Table(c, EluOf, [&] { return c.Emit(Op::kElu, {c.Real(0)}, {{"alpha", 1.0}}); });
}

Outputs Gelu(OpContext& c) {
  const bool approximate = c.Options<schema::GeluOptions>().approximate();
  return Table(c, approximate ? TanhGeluOf : GeluOf, [&] {
    const std::string form = approximate ? "tanh" : "none";
    return c.Emit(Op::kGelu, {c.Real(0)}, {{"approximate", form}});
  });
}

// For 8 bits: the root of the integer in fixed point, with 20 binary places, times the ratio of the scales.
Outputs Rsqrt(OpContext& c) {
  const float out = c.OutQuantized() ? FloatOf(c.OutScale()) : 1;
  if (IsWordUnary(c))
    return {WordLookup(c, [out](float x) { return x <= 0 ? 32767 * out : 1 / std::sqrt(x); })};
  if (!IsByteUnary(c) || c.InType(0) != DType::kI8) {
    Value* root = c.Emit(Op::kSqrt, {c.Real(0)});
    return {c.Div(c.ScalarLike(root, 1), root)};
  }
  constexpr int kPlaces = 20;
  QuantizedMultiplier ratio =
      QuantizedMultiplier::Of(1 / static_cast<double>(std::sqrt(FloatOf(c.InScale(0))) * out));
  ratio.shift -= kPlaces;
  const int64_t zero = c.InZero(0);
  return {Lookup(c, 0, [&](int64_t x) -> int64_t {
    x -= zero;
    if (x <= 0) return INT8_MAX - c.OutZero();
    return ratio.Times(ReciprocalRoot(x, kPlaces));
  })};
}

// The quotient by the output's scale is truncated.
Outputs Sqrt(OpContext& c) {
  if (!IsQuantizedUnary(c)) return {c.Emit(Op::kSqrt, {c.Real(0)})};
  const float scale = FloatOf(c.InScale(0)), out = FloatOf(c.OutScale());
  const int64_t zero = c.InZero(0);
  return {Lookup(c, 0, [&](int64_t x) {
    const float root = std::sqrt(scale * static_cast<float>(std::max<int64_t>(x - zero, 0)));
    return static_cast<int64_t>(root / out);
  })};
}

Outputs Abs(OpContext& c) {
  if (!IsQuantizedUnary(c)) return {c.Emit(Op::kAbs, {c.Real(0)})};
  const float scale = FloatOf(c.InScale(0)), out = FloatOf(c.OutScale());
  const QuantizedMultiplier ratio = QuantizedMultiplier::Of(static_cast<double>(scale / out));
  const int64_t zero = c.InZero(0);
  return {Lookup(c, 0, [&](int64_t x) {
    const int64_t size = std::abs(x - zero);
    return scale == out ? size : ratio.Times(size);
  })};
}

}  // namespace attune::tflite
