// Primitives that add, replace and remove stages; tensor/schedule.h documents them. Each returns an error,
// and leaves the tree as it was, where it does not apply.
#ifndef ATTUNE_TENSOR_SCHEDULE_TRANSFORM_STAGES_H_
#define ATTUNE_TENSOR_SCHEDULE_TRANSFORM_STAGES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tensor/schedule/loop_tree.h"

namespace attune {

absl::Status InlineStage(LoopTree& tree, ScheduledStage& inlined);
absl::Status CacheWrite(LoopTree& tree, ScheduledStage& cached);
absl::Status CacheRead(LoopTree& tree, const std::string& buffer, ScheduledStage& reader);
// Rfactor; the new axis is number `axis`, or the last one.
inline constexpr int64_t kLastAxis = -1;
absl::Status FactorReduction(LoopTree& tree, ScheduledStage& reduction, LoopRef loop, int64_t axis);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_TRANSFORM_STAGES_H_
