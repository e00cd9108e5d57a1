// Features: a candidate as a vector of numbers, for cost models.
//
// Problem: a model that learns from measurements of one task should help with others, on this device and on
// similar ones. The numbers of a config mean nothing outside of their strategy. Idea: compute features from
// the loop nest itself. For each loop from the innermost outwards: how much memory it touches, how much of
// it is reused, with which strides, and how much it computes; sizes are logarithms, and relative to the
// target's caches and registers. After the relations of loop length and touched memory in Chen et al.,
// Learning to optimize tensor programs, NeurIPS 2018, section 4, and the features of buffers, arithmetic
// and intensity in Zheng et al., Ansor, OSDI 2020, appendix B.
#ifndef ATTUNE_TUNE_COST_MODEL_FEATURES_H_
#define ATTUNE_TUNE_COST_MODEL_FEATURES_H_

#include <string>
#include <vector>

#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

// Increased whenever the features of the same loop nest change.
inline constexpr int kFeatureVersion = 1;

// One number for each of FeatureNames(); all finite.
using FeatureVector = std::vector<float>;

// "tile.multiply_adds", "loop2.l1", …: always the same list. Thread safe.
const std::vector<std::string>& FeatureNames();

// The features of a loop nest that VerifyLoopNest() accepts, built for `target` and run on `threads` threads.
// Depends on nothing else. Thread safe; takes about a millisecond.
FeatureVector ExtractFeatures(const LoopNest& nest, const Target& target, int threads);

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_FEATURES_H_
