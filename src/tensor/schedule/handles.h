// Handles, by which C++ code refers to the stages and loops of a schedule.
//
// A schedule hands them out, so that no caller has to spell the name of a loop that a primitive has made.
// Only traces use names.
#ifndef ATTUNE_TENSOR_SCHEDULE_HANDLES_H_
#define ATTUNE_TENSOR_SCHEDULE_HANDLES_H_

#include <string>
#include <utility>
#include <vector>

#include "tensor/expr.h"

namespace attune {

// A stage, by its name, which no other stage of the schedule has.
class StageHandle {
 public:
  StageHandle() = default;  // no stage
  const std::string& name() const { return name_; }
  bool operator==(const StageHandle&) const = default;

 private:
  friend class Schedule;
  explicit StageHandle(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

// A loop, by its variable. Splitting or fusing a loop replaces its variable, so the handle becomes invalid.
class LoopHandle {
 public:
  LoopHandle() = default;  // no loop
  explicit operator bool() const { return var_ != nullptr; }
  bool operator==(const LoopHandle&) const = default;

 private:
  friend class Schedule;
  explicit LoopHandle(Var var) : var_(std::move(var)) {}
  Var var_;
};

struct SplitLoops {
  LoopHandle outer, inner;
};

// The result of Rfactor.
struct FactoredReduction {
  StageHandle stage;              // the new stage: reduces along the other loops
  LoopHandle axis;                // its loop over the axis that was a reduce loop before
  std::vector<LoopHandle> terms;  // its reduce loops, outermost first
  LoopHandle last;                // the old stage's reduce loop: combines the new stage's results
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_HANDLES_H_
