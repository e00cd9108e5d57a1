// The part of a loop that no operator of the graph computes.
#ifndef ATTUNE_PLAN_LOOP_CONTROL_H_
#define ATTUNE_PLAN_LOOP_CONTROL_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune {

// A group that controls an iteration of a loop: (trip count, counter, condition) → (whether it takes place,
// the counter after it).
absl::StatusOr<Graph> LoopControl();

}  // namespace attune

#endif  // ATTUNE_PLAN_LOOP_CONTROL_H_
