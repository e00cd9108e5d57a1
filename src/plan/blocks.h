// How many channels lie in a block, map by map.
#ifndef ATTUNE_PLAN_BLOCKS_H_
#define ATTUNE_PLAN_BLOCKS_H_

#include <cstdint>
#include <map>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "target/target.h"

namespace attune {

// Whether a value has channels that can lie in blocks: static, of floats, with four axes.
bool IsFeatureMap(const TensorType& type);

// For each fused group of `graph`, whose maps have the layouts that blocks of one vector give them: the block
// of its convolutions' outputs, a vector's lanes or half of them. See blocks.cc for how.
absl::StatusOr<std::map<const Node*, int64_t>> ChooseBlocks(const Graph& graph, const Target& target);

}  // namespace attune

#endif  // ATTUNE_PLAN_BLOCKS_H_
