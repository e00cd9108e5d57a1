// Element types of tensors and of the values inside kernels.
#ifndef ATTUNE_BASE_DTYPE_H_
#define ATTUNE_BASE_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace attune {

// The numbers are part of the artifact's format: append, never renumber.
enum class DType : uint8_t {
  kF32 = 0,
  kF64 = 1,
  kF16 = 2,   // IEEE binary16
  kBF16 = 3,  // the upper half of a binary32
  kI8 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kU8 = 8,
  kU16 = 9,
  kU32 = 10,
  kU64 = 11,
  kBool = 12,  // one byte, 0 or 1
};
inline constexpr int kNumDTypes = 13;

// "f32", "i64", "bool", …: the spelling of both IRs' text forms.
std::string_view DTypeName(DType dtype);
std::optional<DType> ParseDType(std::string_view name);

// Size of one element in bytes.
int DTypeSize(DType dtype);

// The largest relative error of rounding to a float type, half an ulp; 0 for other types.
double UnitRoundoff(DType dtype);

constexpr bool IsFloat(DType dtype) { return dtype <= DType::kBF16; }
constexpr bool IsSignedInt(DType dtype) { return dtype >= DType::kI8 && dtype <= DType::kI64; }
constexpr bool IsUnsignedInt(DType dtype) { return dtype >= DType::kU8 && dtype <= DType::kU64; }
constexpr bool IsInt(DType dtype) { return IsSignedInt(dtype) || IsUnsignedInt(dtype); }

}  // namespace attune

#endif  // ATTUNE_BASE_DTYPE_H_
