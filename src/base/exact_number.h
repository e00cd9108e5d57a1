// A number of any element type, exactly: what a double cannot hold of 64-bit integers is kept.
#ifndef ATTUNE_BASE_EXACT_NUMBER_H_
#define ATTUNE_BASE_EXACT_NUMBER_H_

#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

namespace attune {

// An integer from -2^63 to 2^64 - 1, or a double. Equal numbers have one representation: a double that is
// such an integer becomes it, except -0. Numbers are made of C++ numbers implicitly.
class ExactNumber {
 public:
  ExactNumber() : value_(int64_t{0}) {}
  template <std::integral T>
  ExactNumber(T value) {  // NOLINT: implicit
    if constexpr (std::is_same_v<T, bool>) {
      value_ = int64_t{value};
    } else if (std::in_range<int64_t>(value)) {
      value_ = static_cast<int64_t>(value);
    } else {
      value_ = static_cast<uint64_t>(value);
    }
  }
  ExactNumber(double value);  // NOLINT: implicit

  bool is_integer() const { return !std::holds_alternative<double>(value_); }

  // The nearest double.
  double ToDouble() const {
    return std::visit([](auto value) { return static_cast<double>(value); }, value_);
  }
  // As an integer type T holds it: truncated toward zero, saturated, and 0 for NaN.
  template <std::integral T>
  T To() const {
    return std::visit([](auto value) { return Saturated<T>(value); }, value_);
  }

  // The smallest integer that is not less, and the largest that is not more.
  ExactNumber Ceil() const;
  ExactNumber Floor() const;

  // As numbers compare: -0 equals 0, and NaN nothing.
  std::partial_ordering operator<=>(const ExactNumber& other) const;
  bool operator==(const ExactNumber& other) const { return (*this <=> other) == 0; }

  template <typename H>
  friend H AbslHashValue(H hash, const ExactNumber& number) {
    return H::combine(std::move(hash), number.ToDouble() + 0.0);  // the same for -0 and 0
  }

  // Calls f with the int64_t, the uint64_t (only from 2^63 on) or the double that it is.
  template <typename F>
  auto Visit(F f) const {
    return std::visit(f, value_);
  }

 private:
  template <typename T, typename From>
  static T Saturated(From value) {
    constexpr T kLowest = std::numeric_limits<T>::min(), kHighest = std::numeric_limits<T>::max();
    if constexpr (std::is_floating_point_v<From>) {
      if (std::isnan(value)) return 0;
      // The 64-bit maxima round up to a power of two, hence >=.
      if (value >= static_cast<double>(kHighest)) return kHighest;
      if (value <= static_cast<double>(kLowest)) return kLowest;
    } else {
      if (std::cmp_greater(value, kHighest)) return kHighest;
      if (std::cmp_less(value, kLowest)) return kLowest;
    }
    return static_cast<T>(value);
  }

  std::variant<int64_t, uint64_t, double> value_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_EXACT_NUMBER_H_
