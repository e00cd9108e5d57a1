// Finds the cache lines that a loop prefetches.
#ifndef ATTUNE_TENSOR_SCHEDULE_PREFETCH_H_
#define ATTUNE_TENSOR_SCHEDULE_PREFETCH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensor/schedule/loop_tree.h"

namespace attune {

// Prefetch, or PrefetchNextTile. Returns an error, and leaves the tree as it was, where it does not apply.
absl::Status AddPrefetch(const std::string& buffer, LoopRef at, bool next_tile);

// The prefetches of one iteration of `loop`, which is a loop of `state`.
std::vector<Stmt> PrefetchesAt(const LoopTree& tree, const ScheduledStage& state, const StageLoop& loop);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_PREFETCH_H_
