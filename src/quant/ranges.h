// From a distribution to the range that 8 bits are to cover: what is beyond it saturates, what is within is
// rounded to steps that are the finer the less it covers.
#ifndef ATTUNE_QUANT_RANGES_H_
#define ATTUNE_QUANT_RANGES_H_

#include <optional>
#include <string_view>

#include "quant/histogram.h"
#include "quant/plan.h"

namespace attune::quant {

enum class RangeMethod { kMinMax, kPercentile, kEntropy, kMse };

// "min-max", "percentile", "entropy", "mse".
std::string_view RangeMethodName(RangeMethod method);
std::optional<RangeMethod> ParseRangeMethod(std::string_view name);

// The integers of 8 bits.
inline constexpr int kLevels = 256;

// All numbers that occurred.
Range MinMaxRange(const Histogram& histogram);

// All but 1 - percentile / 100 of the numbers, half of them at each end where there are numbers of either
// sign. The offset within a bin is interpolated.
Range PercentileRange(const Histogram& histogram, double percentile);

// The range that loses least information: among all [-t, t] (within the numbers that occurred), the one with
// the least Kullback-Leibler divergence of the distribution, clipped to it, from the same rounded to `levels`
// steps (Migacz: 8-bit inference with TensorRT, GTC 2017; the outliers count in the outermost bins of the one
// and not of the other).
Range EntropyRange(const Histogram& histogram, int levels = kLevels);

// The range with the least mean squared error: (number - bound)² beyond a bound, step² / 12 within, and
// nothing for zeros, which are exact. Both bounds are searched in hundredths, alternately.
Range MseRange(const Histogram& histogram, int levels = kLevels);

Range ChooseRange(const Histogram& histogram, RangeMethod method, double percentile);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_RANGES_H_
