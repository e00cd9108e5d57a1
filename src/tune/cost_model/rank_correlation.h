// How well two orders agree. This is what matters for a cost model, which only has to find the fast
// candidates.
#ifndef ATTUNE_TUNE_COST_MODEL_RANK_CORRELATION_H_
#define ATTUNE_TUNE_COST_MODEL_RANK_CORRELATION_H_

#include <optional>
#include <span>

namespace attune {

// Kendall's tau-b of two lists of equal length: 1 for the same order, -1 for the reverse, about 0 for
// unrelated orders. Pairs that are equal in a list count neither way. Nothing if all elements of a list are
// equal, or there are fewer than two. NaN counts as the smallest value. Takes time proportional to the
// square of the length. Source: M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33,
// 1945.
std::optional<double> KendallTau(std::span<const float> a, std::span<const float> b);

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_RANK_CORRELATION_H_
