// Chooses from a distribution the range that 8 bits cover: numbers beyond it saturate, and numbers within
// are rounded to steps that are finer for a smaller range.
#ifndef ATTUNE_QUANT_RANGES_H_
#define ATTUNE_QUANT_RANGES_H_

#include "quant/histogram.h"
#include "quant/plan.h"

namespace attune::quant {

enum class RangeMethod { kMinMax, kPercentile, kEntropy, kMse };

// The number of values of 8 bits.
inline constexpr int kLevels = 256;

// All numbers that occurred.
Range MinMaxRange(const Histogram& histogram);

// All but 1 - percentile / 100 of the numbers, half of them at each end if there are numbers of both signs.
// Interpolates within a bin.
Range PercentileRange(const Histogram& histogram, double percentile);

// The range that loses the least information: among all [-t, t] (within the numbers that occurred), the one
// with the least Kullback-Leibler divergence between the distribution clipped to the range and the
// distribution rounded to `levels` steps (Migacz: 8-bit inference with TensorRT, GTC 2017; outliers count
// in the outermost bins of the former only).
Range EntropyRange(const Histogram& histogram, int levels = kLevels);

// The range with the least mean squared error: (number - bound)² beyond a bound, step² / 12 within, and 0
// for zeros, which are exact. Searches both bounds in hundredths, alternately.
Range MseRange(const Histogram& histogram, int levels = kLevels);

Range ChooseRange(const Histogram& histogram, RangeMethod method, double percentile);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_RANGES_H_
