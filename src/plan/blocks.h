// How many channels lie in a block, of each feature map.
#ifndef ATTUNE_PLAN_BLOCKS_H_
#define ATTUNE_PLAN_BLOCKS_H_

#include <cstdint>
#include <map>
#include <set>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "plan/chooser.h"
#include "plan/costs.h"
#include "target/target.h"

namespace attune {

// Whether a value has channels that can lie in blocks: static, of floats, with four axes.
bool IsFeatureMap(const TensorType& type);

// Classes of feature maps that agree in their blocks and have two to choose from, by their numbers, that have
// the other one than is predicted to be best.
using LayoutOverrides = std::set<int>;

struct BlockChoice {
  std::map<const Node*, int64_t> blocks;  // of each fused group's output: a vector's lanes or half of them
  int classes = 0;                        // numbered from 0; the same for equal graphs
};

// For a graph whose feature maps have the layouts that blocks of one vector give them. See blocks.cc for how.
absl::StatusOr<BlockChoice> ChooseBlocks(const Graph& graph, const Target& target,
                                         const LayoutOverrides& overrides = {},
                                         const KernelCosts& costs = AnalyticChooser());

}  // namespace attune

#endif  // ATTUNE_PLAN_BLOCKS_H_
