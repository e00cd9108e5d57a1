// Multiplies integers by a real number in integer arithmetic, as TensorFlow Lite's reference kernels do
// (tensorflow/lite/kernels/internal/quantization_util.cc and common.h, without TFLITE_SINGLE_ROUNDING). The
// scales of quantized models in that format mean this. Sums of 32 and of 64 bits are rounded differently.
#ifndef ATTUNE_GRAPH_FIXED_POINT_H_
#define ATTUNE_GRAPH_FIXED_POINT_H_

#include <cmath>
#include <cstdint>

namespace attune {

// A positive number: mantissa 2^(shift - 31), the mantissa of 31 bits.
struct QuantizedMultiplier {
  int64_t mantissa = 0;
  int shift = 0;

  // The multiplier nearest to `number`, which is 0 or more; numbers below 2^-32 become 0.
  static QuantizedMultiplier Of(double number) {
    constexpr int64_t kOne = int64_t{1} << 31;
    QuantizedMultiplier result;
    result.mantissa = std::llround(std::frexp(number, &result.shift) * static_cast<double>(kOne));
    if (result.mantissa == kOne) {
      result.mantissa /= 2;
      ++result.shift;
    }
    if (result.shift < -31) result = QuantizedMultiplier();
    return result;
  }

  // How many binary places the product is rounded to first.
  int first_places() const { return shift < 0 ? -shift : 0; }

  // The number that the multiplier stands for.
  double value() const { return std::ldexp(static_cast<double>(mantissa), shift - 31); }

  // The product with a number of 32 bits, rounded twice: to first_places(), ties upwards, then to a whole
  // number, ties away from zero.
  int64_t Times(int64_t x) const {
    const int left = shift > 0 ? shift : 0;
    const __int128 product = static_cast<__int128>(x) * mantissa * (int64_t{1} << left);
    const auto once = static_cast<int64_t>((product + (int64_t{1} << 30)) >> 31);
    const int64_t half = first_places() == 0 ? 0 : int64_t{1} << (first_places() - 1);
    return once >= 0 ? (once + half) >> first_places() : -((half - once) >> first_places());
  }

  // The mantissa in 15 bits.
  int64_t short_mantissa() const {
    constexpr int64_t kMost = 0x7FFF;
    return mantissa < kMost << 16 ? (mantissa + (1 << 15)) >> 16 : kMost;
  }
  // The binary places of a product with the mantissa in 15 bits.
  int short_places() const { return 15 - shift; }

  // The product of the mantissa in 15 bits with a number of 48 bits, rounded once, ties upwards.
  int64_t TimesWide(int64_t x) const {
    return (x * short_mantissa() + (int64_t{1} << (short_places() - 1))) >> short_places();
  }
};

}  // namespace attune

#endif  // ATTUNE_GRAPH_FIXED_POINT_H_
