// Parts that the schedulers of the loops strategy share.
#ifndef ATTUNE_LOWER_STRATEGIES_LOOPS_PARTS_H_
#define ATTUNE_LOWER_STRATEGIES_LOOPS_PARTS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lower/strategy.h"
#include "target/target.h"
#include "tensor/compute.h"
#include "tensor/schedule.h"

namespace attune {

// The loop over an axis of a stage, until it is split or fused.
inline LoopHandle LoopOver(const Schedule& schedule, const Stage& stage, const Axis& axis) {
  return schedule.Loop(schedule.StageNamed(stage.name), axis.var->name);
}

// Vectorizes a loop, `width` iterations at a time, where a vector has `lanes`; if `peel`, peels the last
// iteration over vectors if it is not full.
struct LaneLoops {
  LoopHandle vectors;  // the loop over vectors; none if there is just one
  LoopHandle lanes;    // none if the loop is too short and stays as it is
};
absl::StatusOr<LaneLoops> SplitIntoLanes(Schedule& schedule, const LoopHandle& loop, int64_t width,
                                         int64_t lanes, bool peel);

// Schedules a root without temporaries that is no reduction: each element by itself. loops_elements.cc
absl::Status ScheduleElements(Schedule& schedule, const Stage& root, const Target& target);

// Inlines the elementwise stages, except those that imperative stages read, and those that are expensive
// and read more than once. loops_elements.cc
absl::Status InlineElementwise(Schedule& schedule, const Workload& workload);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_LOOPS_PARTS_H_
