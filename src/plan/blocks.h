// How many channels of each feature map lie in a block.
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

// Whether a value has channels that can lie in blocks: static, with four axes, of floats, quantized
// integers or conditions.
bool IsFeatureMap(const TensorType& type);

// The numbers of the classes that get the block that is not predicted to be best. A class is feature maps
// that must agree in their blocks, where there are two blocks to choose from.
using LayoutOverrides = std::set<int>;

struct BlockChoice {
  std::map<const Node*, int64_t> blocks;  // of each fused group's output: a vector's lanes or half of them
  int classes = 0;                        // numbered from 0; the same for equal graphs
};

// Takes a graph whose feature maps have the layouts for blocks of one vector. blocks.cc says how it
// chooses.
absl::StatusOr<BlockChoice> ChooseBlocks(const Graph& graph, const Target& target,
                                         const LayoutOverrides& overrides = {},
                                         const KernelCosts& costs = AnalyticChooser());

}  // namespace attune

#endif  // ATTUNE_PLAN_BLOCKS_H_
