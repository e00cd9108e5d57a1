// Arithmetic on sizes that come from a file: every result is checked.
#ifndef ATTUNE_BASE_CHECKED_H_
#define ATTUNE_BASE_CHECKED_H_

#include <cstdint>
#include <optional>
#include <span>

namespace attune {

inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// The product of non-negative dimensions, or nothing on overflow or a negative dimension. The product of no
// dimensions is 1. An overflow among the others is reported even if one dimension is 0.
inline std::optional<int64_t> CheckedProduct(std::span<const int64_t> dims) {
  int64_t product = 1;
  bool zero = false;
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    if (d == 0) {
      zero = true;
    } else if (__builtin_mul_overflow(product, d, &product)) {
      return std::nullopt;
    }
  }
  return zero ? 0 : product;
}

// n rounded up to a multiple of `to` (> 0).
constexpr int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
constexpr int64_t CeilDiv(int64_t n, int64_t by) { return (n + by - 1) / by; }

}  // namespace attune

#endif  // ATTUNE_BASE_CHECKED_H_
