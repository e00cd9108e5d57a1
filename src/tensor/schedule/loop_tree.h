// The trees of loops that a schedule transforms: the stages of a kernel, the loops of each stage, and where
// it is computed.
//
// A stage starts with one serial loop for each of its axes, outermost first, then for each reduce axis. Its
// formulas keep using its axes. A table beside them (axis_values) gives each axis in terms of the current
// loop variables, so that a transformation of loops never rewrites a formula.
#ifndef ATTUNE_TENSOR_SCHEDULE_LOOP_TREE_H_
#define ATTUNE_TENSOR_SCHEDULE_LOOP_TREE_H_

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensor/affine.h"
#include "tensor/compute.h"

namespace attune {

// A loop prefetches the part of this buffer, known by its name, that its stage reads next.
struct Prefetched {
  std::string buffer;
  bool next_tile;  // else the next block
};

struct StageLoop {
  std::string name;  // unique among the stages that are not inlined
  Var var;           // from 0 to extent - 1
  Extent extent = 0;
  bool reduce = false;
  LoopKind kind = LoopKind::kSerial;
  std::string binding;                    // for kBound
  int64_t peel_front = 0, peel_back = 0;  // iterations with their own copies of the body
  // How many iterations have no guard that fails, of an open loop over blocks the last of which may not be
  // full; else null. The others are what an open loop has as peel_back.
  Expr full_blocks = {};
  std::vector<Prefetched> prefetches;
};

// A stage, and how it is computed.
struct ScheduledStage {
  Stage stage;
  std::vector<StageLoop> loops;                // outermost first
  std::map<const VarNode*, Expr> axis_values;  // each axis of the definition in terms of loop variables
  std::vector<Expr> guards;                    // conditions on loop variables, all must hold
  Var attached_to;                             // variable of the loop that it is computed at; null: root
  bool inlined = false;                        // into all its readers, and no longer computed itself
  Buffer local;                                // if attached to a reader: holds its region …
  std::vector<Expr> region_min;                // … which starts here
  bool follows() const { return attached_to && !local; }  // computed at a loop of a stage that it reads
};

// A loop by its index in a stage. Valid until the loops of the stage change.
template <typename Stage>
struct BasicLoopRef {
  Stage* state;
  size_t index;
  auto& loop() const { return state->loops[index]; }
};
using LoopRef = BasicLoopRef<ScheduledStage>;
using ConstLoopRef = BasicLoopRef<const ScheduledStage>;

// Stages keep their addresses as long as the tree lives. Not thread safe.
class LoopTree {
 public:
  explicit LoopTree(ComputeDef def);

  // Name, parameters and dims buffer of the kernel; its stages are in stages().
  const ComputeDef& def() const { return def_; }
  // In an order in which each stage reads only parameters and the outputs of earlier stages.
  std::list<ScheduledStage>& stages() { return stages_; }
  const std::list<ScheduledStage>& stages() const { return stages_; }

  // By name, among the stages that are not inlined; an error if there is none.
  absl::StatusOr<ScheduledStage*> FindStage(const std::string& name);
  absl::StatusOr<const ScheduledStage*> FindStage(const std::string& name) const;
  absl::StatusOr<LoopRef> FindLoop(const std::string& name);
  absl::StatusOr<ConstLoopRef> FindLoop(const std::string& name) const;
  // The loop of this variable; `state` is null if there is none.
  ConstLoopRef LoopOf(const Var& var) const;
  // The stage that computes the buffer at a loop of a reader, or null.
  const ScheduledStage* AttachedStageOf(const Buffer& buffer) const;
  bool IsParameter(const Buffer& buffer) const;

  // Resets the stage to the loops that it starts with; if it is attached to a reader, they cover only its
  // region. A loop keeps its variable if the stage had one of the same name before, so that handles of it
  // stay valid.
  static void ResetLoops(ScheduledStage& state);
  // Adds a stage right before `state`, which reads it.
  void InsertBefore(const ScheduledStage& state, ScheduledStage added);
  // Replaces a loop's variable by the value wherever it occurs: in its own stage, and in the regions of
  // stages that are computed inside.
  void ReplaceVariable(const Var& var, const Expr& value);

  // The ranges of all loop variables.
  Bounds LoopBounds() const;
  // `e`, an expression of the stage's definition, in terms of loop variables and local buffers, with
  // simplified indices.
  Expr Resolve(const ScheduledStage& state, const Expr& e) const;

  // Checks that primitives share; messages start with `op`. The errors, in this order: a stage is computed
  // at the loop; a stage is computed at a loop of `state`; the loop is marked or peeled, or a stage is
  // computed at it; another stage writes the output of `state` too, or an imperative one reads it; the name
  // of a new stage is taken.
  absl::Status CheckNothingComputedAt(const StageLoop& loop, std::string_view op) const;
  absl::Status CheckNothingComputedAt(const ScheduledStage& state, std::string_view op) const;
  absl::Status CheckPlain(const StageLoop& loop, std::string_view op) const;
  absl::Status CheckReadByFormulas(const ScheduledStage& state, std::string_view op) const;
  absl::Status CheckNewName(std::string_view name, std::string_view op) const;

 private:
  ComputeDef def_;
  std::list<ScheduledStage> stages_;
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_LOOP_TREE_H_
