// Quantiles of samples.
#ifndef ATTUNE_BASE_QUANTILE_H_
#define ATTUNE_BASE_QUANTILE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace attune {

// The value of the rank nearest to the q-th quantile, 0 <= q <= 1; 0 if there are no values. Takes linear
// time.
inline double QuantileOf(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at = values.begin() + std::lround(q * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace attune

#endif  // ATTUNE_BASE_QUANTILE_H_
