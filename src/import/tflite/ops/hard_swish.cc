// x relu6(x + 3) / 6. In 8 bits it is a table, computed with the 16-bit arithmetic of TensorFlow Lite's
// reference kernel (tensorflow/lite/kernels/internal/reference/hard_swish.h), which no formula in real
// numbers reproduces.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/fixed_point.h"
#include "import/tflite/ops/integers.h"
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

constexpr int64_t kLow = INT16_MIN, kHigh = INT16_MAX;

// a b / 2^15, rounded to nearest or towards zero.
int64_t RoundedHighProduct(int64_t a, int64_t b) {
  if (a == kLow && b == kLow) return kHigh;
  constexpr int64_t kHalf = int64_t{1} << 14;
  const int64_t product = a * b;
  return (product + (product >= 0 ? kHalf : 1 - kHalf)) / (int64_t{1} << 15);
}
int64_t HighProduct(int64_t a, int64_t b) {
  return a == kLow && b == kLow ? kHigh : a * b / (int64_t{1} << 15);
}

// x / 2^places, rounded half away from zero.
int64_t RoundedShift(int64_t x, int places) {
  const int64_t half = places == 0 ? 0 : int64_t{1} << (places - 1);
  return x >= 0 ? (x + half) >> places : -((half - x) >> places);
}

int64_t SaturatedShift(int64_t x, int places) { return std::clamp(x * (int64_t{1} << places), kLow, kHigh); }

// A positive number as mantissa 2^(shift - 15), where the mantissa has 15 bits.
struct ShortMultiplier {
  int64_t mantissa;
  int shift;

  explicit ShortMultiplier(double number) {
    const QuantizedMultiplier wide = QuantizedMultiplier::Of(number);
    constexpr int64_t kHalf = int64_t{1} << 15;
    mantissa = std::min((wide.mantissa + kHalf) >> 16, kHigh);
    shift = wide.shift;
  }
};

class Table {
 public:
  Table(double in_scale, double out_scale)
      : output_(static_cast<double>(Fine(in_scale) / static_cast<float>(out_scale))),
        reluish_(static_cast<double>(Fine(in_scale) / (3.0F / 32768.0F))) {}

  // Whether the shifts are in the range of the arithmetic.
  bool IsValid() const { return output_.shift <= 0 && output_.shift > -16 && std::abs(reluish_.shift) < 16; }

  // The result for an integer, both without their zero points.
  int64_t operator[](int64_t x) const {
    const int64_t fine = std::clamp(x * 128, kLow, kHigh);
    int64_t gate = fine;
    if (reluish_.shift > 0) gate = SaturatedShift(gate, reluish_.shift - 1);
    gate = RoundedHighProduct(gate, reluish_.mantissa);
    if (reluish_.shift > 0) gate = SaturatedShift(gate, 1);
    if (reluish_.shift < 0) gate = RoundedShift(gate, -reluish_.shift);
    gate = (gate + (int64_t{1} << 15)) >> 1;
    const int64_t product = HighProduct(gate, RoundedHighProduct(fine, output_.mantissa));
    return RoundedShift(product, -output_.shift);
  }

 private:
  static float Fine(double scale) { return 1.0F / 128.0F * static_cast<float>(scale); }

  ShortMultiplier output_, reluish_;
};

}  // namespace

Outputs HardSwish(OpContext& c) {
  const bool is_byte = c.InType(0) == DType::kI8 || c.InType(0) == DType::kU8;
  if (!c.InQuantized(0) || !c.OutQuantized() || !is_byte || c.OutType() != c.InType(0))
    return {c.Emit(Op::kHardSwish, {c.Real(0)})};
  const Table table(c.InScale(0), c.OutScale());
  if (!table.IsValid()) Unsupported("its scales ", c.InScale(0), " and ", c.OutScale(), " are too far apart");
  const int64_t zero = c.InZero(0);
  return {Lookup(c, 0, [&](int64_t x) { return table[x - zero]; })};
}

}  // namespace attune::tflite
