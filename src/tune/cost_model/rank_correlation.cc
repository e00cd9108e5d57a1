#include "tune/cost_model/rank_correlation.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace attune {
namespace {

int Compare(float a, float b) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  if (std::isnan(a)) a = kLeast;
  if (std::isnan(b)) b = kLeast;
  return a < b ? -1 : a > b ? 1 : 0;
}

}  // namespace

std::optional<double> KendallTau(std::span<const float> a, std::span<const float> b) {
  int64_t agreeing = 0, unequal_a = 0, unequal_b = 0;
  const size_t count = std::min(a.size(), b.size());
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const int order_a = Compare(a[i], a[j]), order_b = Compare(b[i], b[j]);
      agreeing += order_a * order_b;
      unequal_a += order_a != 0 ? 1 : 0;
      unequal_b += order_b != 0 ? 1 : 0;
    }
  }
  if (unequal_a == 0 || unequal_b == 0) return std::nullopt;
  return static_cast<double>(agreeing) /
         std::sqrt(static_cast<double>(unequal_a) * static_cast<double>(unequal_b));
}

}  // namespace attune
