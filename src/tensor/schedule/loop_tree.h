// The trees of loops that a schedule transforms: the stages of a kernel, the loops of each, and where each is
// computed.
//
// A stage begins with one serial loop for each of its axes, outermost first, then for each reduce axis. Its
// definition stays in terms of its axes; what each axis is by the variables of the loops as they stand now is
// kept beside it, so that a transformation of loops never rewrites a formula.
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

// A buffer, by name, that a loop brings into a cache ahead of its use: what its stage reads next of it.
struct Prefetched {
  std::string buffer;
  bool next_tile;  // else the next block
};

struct StageLoop {
  std::string name;  // unique among the stages that are not inlined
  Var var;           // from 0 to extent - 1
  int64_t extent;
  bool reduce = false;
  LoopKind kind = LoopKind::kSerial;
  std::string binding;                    // of kBound
  int64_t peel_front = 0, peel_back = 0;  // iterations with copies of the body of their own
  std::vector<Prefetched> prefetches;
};

// A stage, and how it is computed.
struct ScheduledStage {
  Stage stage;
  std::vector<StageLoop> loops;                // outermost first
  std::map<const VarNode*, Expr> axis_values;  // each axis of the definition by the loops' variables
  std::vector<Expr> guards;                    // conditions on loop variables, all must hold
  Var attached_to;                             // the loop's variable; null: root
  bool inlined = false;                        // into all that read it: it is not computed any more
  Buffer local;                                // when attached to a reader: holds the region …
  std::vector<Expr> region_min;                // … that starts here
  bool follows() const { return attached_to && !local; }  // what it reads is computed at that loop
};

// A loop by its place in a stage, for as long as the stage has the same loops.
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
  // In an order in which each reads only parameters and the outputs of earlier ones.
  std::list<ScheduledStage>& stages() { return stages_; }
  const std::list<ScheduledStage>& stages() const { return stages_; }

  // By name, of those that are not inlined; an error where there is none.
  absl::StatusOr<ScheduledStage*> FindStage(const std::string& name);
  absl::StatusOr<const ScheduledStage*> FindStage(const std::string& name) const;
  absl::StatusOr<LoopRef> FindLoop(const std::string& name);
  absl::StatusOr<ConstLoopRef> FindLoop(const std::string& name) const;
  // The loop of this variable, one that there is.
  ConstLoopRef LoopOf(const Var& var) const;
  // The stage that computes the buffer at a loop of a reader, or null.
  const ScheduledStage* AttachedStageOf(const Buffer& buffer) const;
  bool IsParameter(const Buffer& buffer) const;

  // Gives the stage the loops that it begins with; those of a stage that is attached to a reader cover its
  // region only. A loop that the stage has already under the same name keeps its variable, so that handles of
  // it stay good.
  static void ResetLoops(ScheduledStage& state);
  // Adds a stage that `state` reads.
  void InsertBefore(const ScheduledStage& state, ScheduledStage added);
  // Puts the value in the place of a loop's variable wherever that occurs: in its own stage, and in the
  // regions of those that are computed inside.
  void ReplaceVariable(const Var& var, const Expr& value);

  // The ranges of all loop variables.
  Bounds LoopBounds() const;
  // `e`, an expression of the stage's definition, by loop variables and local buffers, with indices
  // simplified.
  Expr Resolve(const ScheduledStage& state, const Expr& e) const;

  // Errors that primitives share, whose messages start with `op`: a stage is computed at the loop, or at any
  // loop of a stage; a loop cannot be taken apart; a stage's output is written or read by more than formulas;
  // a new stage's name is taken.
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
