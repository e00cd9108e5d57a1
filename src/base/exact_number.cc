#include "base/exact_number.h"

#include <algorithm>

namespace attune {
namespace {

// For a comparison of an integer with a double that is none: one of 2^64 or more exceeds every integer.
template <typename T>
double AsReal(T value) {
  constexpr double kBelow = 0x1.fffffffffffffp63;
  return std::is_integral_v<T> ? std::min(static_cast<double>(value), kBelow) : static_cast<double>(value);
}

}  // namespace

ExactNumber::ExactNumber(double value) : value_(value) {
  const bool fits = value >= -0x1p63 && value < 0x1p64 && std::trunc(value) == value;
  if (!fits || (value == 0 && std::signbit(value))) return;
  if (value < 0x1p63) {
    value_ = static_cast<int64_t>(value);
  } else {
    value_ = static_cast<uint64_t>(value);
  }
}

ExactNumber ExactNumber::Ceil() const { return is_integer() ? *this : std::ceil(ToDouble()); }
ExactNumber ExactNumber::Floor() const { return is_integer() ? *this : std::floor(ToDouble()); }

std::partial_ordering ExactNumber::operator<=>(const ExactNumber& other) const {
  return std::visit(
      [](auto x, auto y) -> std::partial_ordering {
        if constexpr (std::is_integral_v<decltype(x)> && std::is_integral_v<decltype(y)>) {
          if (std::cmp_equal(x, y)) return std::partial_ordering::equivalent;
          return std::cmp_less(x, y) ? std::partial_ordering::less : std::partial_ordering::greater;
        } else {
          return AsReal(x) <=> AsReal(y);
        }
      },
      value_, other.value_);
}

}  // namespace attune
