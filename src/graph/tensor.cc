#include "graph/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/fatal.h"
#include "base/float16.h"
#include "base/int_type.h"
#include "base/overloaded.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr size_t kAlignment = 64;

// Zeroed, aligned memory, or null. It comes from calloc so that the pages of a large tensor are not
// touched before they are used.
std::shared_ptr<std::byte[]> AllocateBytes(int64_t bytes) {
  void* block = std::calloc(1, static_cast<size_t>(bytes) + kAlignment);
  if (block == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(block);
  auto* aligned =
      static_cast<std::byte*>(block) + (RoundUp(static_cast<int64_t>(address), kAlignment) - address);
  return {aligned, [block](std::byte*) { std::free(block); }};
}

// The number of elements, or nothing where it or the size in bytes (with room for alignment) overflows.
std::optional<int64_t> CountElements(DType dtype, const Shape& shape) {
  const std::optional<int64_t> elements = CheckedProduct(shape);
  if (!elements) return std::nullopt;
  const std::optional<int64_t> bytes = CheckedMul(*elements, DTypeSize(dtype));
  if (!bytes || !CheckedAdd(*bytes, kAlignment)) return std::nullopt;
  return elements;
}

// To binary32 rounding to odd: inexact results get an odd last bit, so that rounding again to at most
// 22 bits of precision gives what one rounding of the double would have (Boldo and Melquiond, 2005).
float RoundToOdd(double value) {
  float nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) nearest = std::nextafter(nearest, 0.0f);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) | 1);
}

// Truncated towards zero, the nearest representable integer where out of range, 0 for NaN.
template <typename T>
T Saturate(double value) {
  if (std::isnan(value)) return 0;
  // The bounds are exact, or, for the maxima of 64 bits, one above: hence >=.
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

template <typename T>
T Saturate(int64_t value) {
  if (std::cmp_less(value, std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (std::cmp_greater(value, std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

}  // namespace

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  const std::optional<int64_t> elements = CountElements(dtype_, shape_);
  if (!elements) Fatal("a tensor of shape [", absl::StrJoin(shape_, ","), "] has no size");
  num_elements_ = *elements;
  bytes_ = AllocateBytes(num_bytes());
  if (bytes_ == nullptr) Fatal("out of memory for a tensor of ", num_bytes(), " bytes");
}

absl::StatusOr<Tensor> Tensor::Allocate(DType dtype, Shape shape, int64_t max_bytes) {
  const std::optional<int64_t> elements = CountElements(dtype, shape);
  if (!elements) {
    return InvalidInput("a tensor of shape [", absl::StrJoin(shape, ","),
                        "]: a negative dimension or too large");
  }
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.num_elements_ = *elements;
  if (tensor.num_bytes() > max_bytes) {
    return InvalidInput("a tensor of shape [", absl::StrJoin(tensor.shape_, ","), "] takes ",
                        tensor.num_bytes(), " bytes, at most ", max_bytes, " are allowed");
  }
  tensor.bytes_ = AllocateBytes(tensor.num_bytes());
  if (tensor.bytes_ == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("out of memory for a tensor of ", tensor.num_bytes(), " bytes"));
  }
  return tensor;
}

Tensor Tensor::Scalar(DType dtype, const ExactNumber& value) {
  Tensor tensor(dtype, {});
  tensor.SetNumber(0, value);
  return tensor;
}

Tensor Tensor::FromInts(std::span<const int64_t> values, DType dtype) {
  Tensor tensor(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) tensor.SetInt(static_cast<int64_t>(i), values[i]);
  return tensor;
}

Tensor Tensor::FromFloats(std::span<const float> values, Shape shape) {
  Tensor tensor(DType::kF32, std::move(shape));
  if (tensor.num_elements() != static_cast<int64_t>(values.size())) {
    Fatal(values.size(), " values for a tensor of ", tensor.num_elements(), " elements");
  }
  if (!values.empty()) std::memcpy(tensor.mutable_data(), values.data(), values.size_bytes());
  return tensor;
}

double Tensor::ToDouble(int64_t i) const {
  const auto at = static_cast<size_t>(i);
  switch (dtype_) {
    case DType::kF32:
      return as<float>()[at];
    case DType::kF64:
      return as<double>()[at];
    case DType::kF16:
      return F16ToFloat(as<uint16_t>()[at]);
    case DType::kBF16:
      return BF16ToFloat(as<uint16_t>()[at]);
    case DType::kBool:
      return as<uint8_t>()[at] != 0;
    default:
      return WithIntType(dtype_, [&](auto t) { return static_cast<double>(as<decltype(t)>()[at]); });
  }
}

int64_t Tensor::ToInt(int64_t i) const {
  if (IsFloat(dtype_)) return Saturate<int64_t>(ToDouble(i));
  const auto at = static_cast<size_t>(i);
  if (dtype_ == DType::kBool) return as<uint8_t>()[at] != 0;
  if (dtype_ == DType::kU64) {
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    return static_cast<int64_t>(std::min(as<uint64_t>()[at], kMax));
  }
  return WithIntType(dtype_, [&](auto t) { return static_cast<int64_t>(as<decltype(t)>()[at]); });
}

ExactNumber Tensor::ToNumber(int64_t i) const {
  if (!IsInt(dtype_)) return ToDouble(i);
  return WithIntType(dtype_, [&](auto t) { return ExactNumber(as<decltype(t)>()[static_cast<size_t>(i)]); });
}

void Tensor::SetDouble(int64_t i, double value) {
  const auto at = static_cast<size_t>(i);
  switch (dtype_) {
    case DType::kF32:
      as_mutable<float>()[at] = static_cast<float>(value);
      return;
    case DType::kF64:
      as_mutable<double>()[at] = value;
      return;
    case DType::kF16:
      as_mutable<uint16_t>()[at] = FloatToF16(RoundToOdd(value));
      return;
    case DType::kBF16:
      as_mutable<uint16_t>()[at] = FloatToBF16(RoundToOdd(value));
      return;
    case DType::kBool:
      as_mutable<uint8_t>()[at] = value != 0;
      return;
    default:
      WithIntType(dtype_, [&](auto t) { as_mutable<decltype(t)>()[at] = Saturate<decltype(t)>(value); });
  }
}

void Tensor::SetInt(int64_t i, int64_t value) {
  const auto at = static_cast<size_t>(i);
  if (IsInt(dtype_)) {
    WithIntType(dtype_, [&](auto t) { as_mutable<decltype(t)>()[at] = Saturate<decltype(t)>(value); });
  } else if (dtype_ == DType::kF32) {
    // Directly: by way of a double, values above 2^53 would round twice.
    as_mutable<float>()[at] = static_cast<float>(value);
  } else {
    SetDouble(i, static_cast<double>(value));
  }
}

void Tensor::SetNumber(int64_t i, const ExactNumber& value) {
  value.Visit(Overloaded{[&](int64_t integer) { SetInt(i, integer); },
                         [&](uint64_t integer) {
                           if (dtype_ == DType::kU64) {
                             as_mutable<uint64_t>()[static_cast<size_t>(i)] = integer;
                           } else {
                             SetDouble(i, static_cast<double>(integer));
                           }
                         },
                         [&](double real) { SetDouble(i, real); }});
}

std::vector<int64_t> Tensor::ToInts() const {
  std::vector<int64_t> values(static_cast<size_t>(num_elements_));
  for (size_t i = 0; i < values.size(); ++i) values[i] = ToInt(static_cast<int64_t>(i));
  return values;
}

Tensor Tensor::Reshaped(Shape shape) const {
  const std::optional<int64_t> elements = CheckedProduct(shape);
  if (elements != num_elements_) {
    Fatal("[", absl::StrJoin(shape_, ","), "] reshaped to [", absl::StrJoin(shape, ","), "]");
  }
  Tensor reshaped = *this;
  reshaped.shape_ = std::move(shape);
  return reshaped;
}

bool Tensor::Identical(const Tensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_ || num_elements_ != other.num_elements_) return false;
  return num_elements_ == 0 || std::memcmp(data(), other.data(), static_cast<size_t>(num_bytes())) == 0;
}

}  // namespace attune
