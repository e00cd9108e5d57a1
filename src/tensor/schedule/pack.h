// Copies operands in the order in which a kernel reads them.
#ifndef ATTUNE_TENSOR_SCHEDULE_PACK_H_
#define ATTUNE_TENSOR_SCHEDULE_PACK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensor/schedule/loop_tree.h"

namespace attune {

// Pack. `layout` has the numbers of the primitive: the number of splits, the axis and the block of each,
// then the order. Returns an error, and leaves the tree as it was, where it does not apply.
absl::Status PackBuffer(LoopTree& tree, const std::string& name, ScheduledStage& reader,
                        const std::vector<int64_t>& layout);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_PACK_H_
