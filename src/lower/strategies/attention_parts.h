// Parts that the strategies for attention share.
#ifndef ATTUNE_LOWER_STRATEGIES_ATTENTION_PARTS_H_
#define ATTUNE_LOWER_STRATEGIES_ATTENTION_PARTS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lower/strategies/strategies.h"

namespace attune {

// Why a group is not attention on inputs, perhaps moved and converted, with nothing but elementwise
// operators and a final movement around it; empty if it is.
std::string AnyAttentionWhyNot(const Workload&);

// How many vectors of `n` elements to take at a time: `limit`, halved until it divides their number.
int64_t VectorsIn(int64_t n, int64_t lanes, int64_t limit);

bool IsMovement(const Node&);
// Inlines the stages that move the operands, so that attention reads the operands through them.
absl::Status InlineMovements(Schedule&, const Workload&);

// The output's loops along batch, heads, queries and values.
std::array<LoopHandle, 4> AttentionOutputLoops(const Schedule&, const Workload&);

// Has threads share the blocks of rows that the output was split into. Returns the loop over one block.
absl::StatusOr<LoopHandle> ParallelizeAttentionOutput(Schedule&, const Workload&);

// Computes the sum or maximum of each row at loop `at`, in `lanes` lanes that are combined last.
absl::Status ScheduleRowReduction(Schedule&, const StageHandle& stage, const LoopHandle& at, int64_t lanes);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_ATTENTION_PARTS_H_
