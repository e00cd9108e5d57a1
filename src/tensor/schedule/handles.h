// Handles of a schedule's stages and loops, by which C++ code names them.
//
// A schedule hands them out; nobody spells the name of a loop that a primitive has made. Names stand in
// traces.
#ifndef ATTUNE_TENSOR_SCHEDULE_HANDLES_H_
#define ATTUNE_TENSOR_SCHEDULE_HANDLES_H_

#include <string>
#include <utility>
#include <vector>

#include "tensor/expr.h"

namespace attune {

// A stage. It keeps its name, which no other stage of the schedule has.
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

// A loop, by its variable, which is another one once the loop is split or fused.
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

// What Rfactor makes of a stage.
struct FactoredReduction {
  StageHandle stage;              // the new one: reduces along the other loops
  LoopHandle axis;                // its loop in the place of the one that is factored out
  std::vector<LoopHandle> terms;  // its loops that reduce, outermost first
  LoopHandle last;                // of the stage that was there: adds up what the new one makes
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_HANDLES_H_
