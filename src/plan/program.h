// The plan of a whole network: kernels, where each tensor lies, and the program that calls them.
#ifndef ATTUNE_PLAN_PROGRAM_H_
#define ATTUNE_PLAN_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "lower/strategy.h"
#include "plan/chooser.h"
#include "sizes/fit.h"
#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

// Some memory. Tensors that share a storage are views of one another, or take turns.
struct Storage {
  int64_t bytes = 0;
  Expr open_bytes = {};  // of the plan's sizes, instead of `bytes`; null: constant
  // Constants: the data, and the prepacking that makes this storage from it, if any (an index into
  // prepackings).
  std::optional<Tensor> constant;
  int prepacking = -1;
  // In the arena: the steps between which it is in use. An input or output is pinned: no other storage
  // shares its bytes.
  int first = 0, last = 0;
  bool pinned = false;
  bool has_parts = false;  // several kernels write it, each its part
};

struct PlannedTensor {
  std::string name;
  TensorType type;
  int storage = 0;
  int64_t offset = 0;  // in the storage, in bytes
  // Empty, or like the physical shape: its open dimensions as expressions of the plan's sizes; the others are
  // null.
  std::vector<Expr> open = {};
};

// A kernel, shared by all groups that compute the same thing in the same way.
struct PlannedKernel {
  std::string operators;  // "conv+add+relu"
  std::string strategy;   // "conv_direct tile_c=4 tile_w=7"
  ChosenBy by = ChosenBy::kModel;
  std::string measured_code;  // KernelChoice::code_digest
  std::string record;         // KernelChoice::record
  std::string task;           // what it computes: GroupIdentity::key
  std::vector<Primitive> trace;
  LoopNest nest;  // named after its operators and a digest of the group and the target
  std::vector<std::pair<int, int>> may_alias;  // params: an output that may be the same memory as an input
  int64_t flops = 0;
  int64_t bytes_read = 0, bytes_written = 0;
  std::unique_ptr<Graph> region;  // what it computes
  std::set<int> constant_inputs;  // of the region's inputs
};

enum class StepKind { kCall, kJump, kBranchIfFalse, kCopy, kCheckIndices };

struct Step {
  StepKind kind = StepKind::kCall;
  int kernel = 0;
  int target = 0;  // kJump, kBranchIfFalse: a step
  // kCall: one for each param of the kernel; kCopy: from, to; branch: the condition; kCheckIndices: the
  // indices and their bounds (Opcode::kCheckIndices)
  std::vector<int> tensors;
  std::string label;
  // By the plan's sizes: of the kernel's LoopNest::sizes, or the sizes of the axes that kCheckIndices knows,
  // if they are open.
  std::vector<Expr> sizes = {};
};

// The plan of a network with open sizes is made at one point: where a number is said to be open, the number
// beside it is that of this point.
struct NetworkPlan {
  std::vector<PlannedKernel> kernels;
  std::vector<LoopNest> prepackings;  // kernels from one constant to its stored form
  std::vector<Storage> storages;
  std::vector<PlannedTensor> tensors;
  std::vector<std::pair<std::string, int>> inputs, outputs;  // name, tensor
  std::vector<Step> steps;
  std::vector<std::string> symbols;  // of dynamic dimensions, by slot
  std::vector<SizeParam> sizes;      // open dimensions; empty: all sizes are constant
  // Products that plain loops compute, because no other schedule applies to open sizes: the nodes, and why.
  std::vector<std::string> slow_products;

  // The memory plan: the arena offset of each storage (0 for constants). None with open sizes: the runtime
  // makes it.
  std::vector<int64_t> offsets;
  int64_t arena_bytes = 0;
};

// Plans a graph of fused groups whose layouts are assigned. Operators without a lowering are all reported at
// once, as one Unimplemented status with a line "not supported: operator node: reason" each.
absl::StatusOr<NetworkPlan> PlanNetwork(const Graph& graph, const Target& target,
                                        const KernelChooser& chooser = AnalyticChooser());

// The same for a network with open sizes: `graphs` are it at several points, arranged alike. Kernels are
// chosen at the first point. Fails with NotSupported where the network depends on its sizes in more than
// sizes.
absl::StatusOr<NetworkPlan> PlanOpenNetwork(std::span<Graph* const> graphs, std::span<const SizePoint> points,
                                            std::span<const OpenDim> dims, const Target& target,
                                            const KernelChooser& chooser = AnalyticChooser());

}  // namespace attune

#endif  // ATTUNE_PLAN_PROGRAM_H_
