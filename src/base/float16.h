// Conversions between binary32 and the 16-bit floats, with round to nearest even.
#ifndef ATTUNE_BASE_FLOAT16_H_
#define ATTUNE_BASE_FLOAT16_H_

#include <bit>
#include <cstdint>

namespace attune {

inline float F16ToFloat(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
  const uint32_t exponent = (h >> 10) & 0x1F;
  uint32_t mantissa = h & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent == 0) {  // zero and subnormals: mantissa · 2⁻²⁴ is exact in binary32
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

inline uint16_t FloatToF16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7E00;   // NaN
  if (magnitude >= 0x477FF000) return sign | 0x7C00;  // rounds to infinity
  if (magnitude < 0x38800000) {                       // subnormal: let the adder do the rounding
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3F000000);
  }
  const uint32_t odd = (magnitude >> 13) & 1;
  return sign | static_cast<uint16_t>((magnitude - 0x38000000 + 0xFFF + odd) >> 13);
}

inline float BF16ToFloat(uint16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b) << 16); }

inline uint16_t FloatToBF16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<uint16_t>((bits >> 16) | 0x40);  // quiet NaN
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// Whether the 16-bit type can represent the number exactly, bit by bit.
inline bool FitsF16(float f) {
  return std::bit_cast<uint32_t>(F16ToFloat(FloatToF16(f))) == std::bit_cast<uint32_t>(f);
}
inline bool FitsBF16(float f) { return (std::bit_cast<uint32_t>(f) & 0xFFFF) == 0; }

}  // namespace attune

#endif  // ATTUNE_BASE_FLOAT16_H_
