// How often which numbers occur: what calibration keeps of a tensor, in one pass and bounded memory.
//
// Problem: nobody knows the range before the last sample is seen, and clipping needs the whole distribution.
// Idea: bins whose width is a power of two, aligned at zero. Where a number lies beyond the last bin, pairs
// of neighbours become one bin of twice the width until it fits: no count is lost, and what comes out does
// not depend on the order of the numbers. At least half of the bins are in use on the longer side.
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

  // The elements of a tensor of f32, or some numbers. Those that are not finite do not count.
  void Add(const Tensor& tensor) { Add(tensor.as<float>()); }
  void Add(std::span<const float> values);
  // What `other` has seen.
  void Merge(const Histogram& other);

  // Of all numbers; 0 where none was seen.
  double min() const { return total_ == 0 ? 0 : min_; }
  double max() const { return total_ == 0 ? 0 : max_; }
  int64_t total() const { return total_; }
  // How many of them are exactly 0; they are in no bin.
  int64_t zeros() const { return zeros_; }

  // Bin i counts the numbers in [LowerEdge(i), LowerEdge(i + 1)), 0 <= i < 2 kBins.
  std::span<const int64_t> counts() const { return counts_; }
  double width() const { return width_; }  // 0 where only zeros were seen
  double LowerEdge(int i) const { return (i - kBins) * width_; }

 private:
  // Makes the bins so wide that they hold numbers of this magnitude.
  void Reach(double magnitude);

  std::vector<int64_t> counts_;
  double width_ = 0;
  double min_ = 0, max_ = 0;
  int64_t total_ = 0, zeros_ = 0;
};

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_HISTOGRAM_H_
