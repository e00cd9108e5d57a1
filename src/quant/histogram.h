// The distribution of a tensor's numbers, which calibration collects in one pass and bounded memory.
//
// Problem: the range is unknown until the last sample is seen, and clipping needs the whole distribution.
// Idea: bins whose width is a power of two, aligned at zero. If a number lies beyond the last bin, pairs of
// neighbours are merged into bins of twice the width until it fits: no count is lost, and the result does
// not depend on the order of the numbers. On the longer side, at least half of the bins are in use.
#ifndef ATTUNE_QUANT_HISTOGRAM_H_
#define ATTUNE_QUANT_HISTOGRAM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "graph/tensor.h"

namespace attune::quant {

class Histogram {
 public:
  static constexpr int kBins = 2048;  // on each side of zero

  Histogram() : counts_(2 * kBins, 0) {}

  // Adds the elements of an f32 tensor, or some numbers. Numbers that are not finite are ignored.
  void Add(const Tensor& tensor) { Add(tensor.as<float>()); }
  void Add(std::span<const float> values);

  // The extremes of all numbers; 0 if there are none.
  double min() const { return total_ == 0 ? 0 : min_; }
  double max() const { return total_ == 0 ? 0 : max_; }
  int64_t total() const { return total_; }
  // The number of exact zeros, which are not in any bin.
  int64_t zeros() const { return zeros_; }

  // Bin i counts the numbers in [LowerEdge(i), LowerEdge(i + 1)), 0 <= i < 2 kBins.
  std::span<const int64_t> counts() const { return counts_; }
  double width() const { return width_; }  // 0 if only zeros were counted
  double LowerEdge(int i) const { return (i - kBins) * width_; }

 private:
  // Widens the bins until numbers of this magnitude fit.
  void Reach(double magnitude);

  std::vector<int64_t> counts_;
  double width_ = 0;
  double min_ = 0, max_ = 0;
  int64_t total_ = 0, zeros_ = 0;
};

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_HISTOGRAM_H_
