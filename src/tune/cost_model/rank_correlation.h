// How well one order agrees with another: what matters of a cost model, which only has to find the fast ones.
#ifndef ATTUNE_TUNE_COST_MODEL_RANK_CORRELATION_H_
#define ATTUNE_TUNE_COST_MODEL_RANK_CORRELATION_H_

#include <optional>
#include <span>

namespace attune {

// Kendall's tau-b of two lists of equal length: 1 for the same order, -1 for the reverse, about 0 for orders
// that have nothing to do with each other. Pairs that are equal in a list count for neither. Nothing where
// all of a list are equal, or fewer than two. NaN counts as the least. Takes time in proportion to the square
// of the length. Source: M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33, 1945.
std::optional<double> KendallTau(std::span<const float> a, std::span<const float> b);

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_RANK_CORRELATION_H_
