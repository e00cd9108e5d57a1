#include "quant/histogram.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attune::quant {
namespace {

constexpr int kLogBins = 11;
static_assert(1 << kLogBins == Histogram::kBins);

}  // namespace

void Histogram::Reach(double magnitude) {
  if (magnitude == 0) return;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  const double needed = std::ldexp(1.0, exponent - kLogBins);
  if (width_ == 0) width_ = needed;
  for (; width_ < needed; width_ *= 2) {
    std::vector<int64_t> wider(counts_.size(), 0);
    for (int i = 0; i < kBins / 2; ++i) {
      wider[kBins + i] = counts_[kBins + 2 * i] + counts_[kBins + 2 * i + 1];
      wider[kBins - 1 - i] = counts_[kBins - 1 - 2 * i] + counts_[kBins - 2 - 2 * i];
    }
    counts_ = std::move(wider);
  }
}

void Histogram::Add(std::span<const float> values) {
  double low = 0, high = 0;
  bool is_first = total_ == 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min<double>(low, value);
    high = std::max<double>(high, value);
    min_ = is_first ? value : std::min<double>(min_, value);
    max_ = is_first ? value : std::max<double>(max_, value);
    is_first = false;
  }
  Reach(std::max(-low, high));
  const double scale = width_ == 0 ? 0 : 1 / width_;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    ++total_;
    if (value == 0) {
      ++zeros_;
    } else {
      // All bins exist, since -2^exponent itself does not occur.
      const int bin = kBins + static_cast<int>(std::floor(value * scale));
      ++counts_[static_cast<size_t>(bin)];
    }
  }
}

}  // namespace attune::quant
