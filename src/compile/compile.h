// The compiler's driver: the stages in order, and nothing else.
#ifndef ATTUNE_COMPILE_COMPILE_H_
#define ATTUNE_COMPILE_COMPILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "plan/blocks.h"
#include "plan/chooser.h"
#include "plan/contractions.h"
#include "plan/program.h"
#include "target/target.h"

namespace attune {

// What artifacts and records say that they were made by.
inline constexpr std::string_view kCompilerVersion = "attune 0.1.0";

struct CompileOptions {
  Target target;
  // Other processors, of other names, that the artifact is to have code for. The runtime takes the best that
  // it can run.
  std::vector<Target> more_targets;
  // Where not empty, an existing folder: for each kernel its group (NAME.graph), schedule (NAME.json), loop
  // nest (NAME.loops), LLVM IR (NAME.ll) and assembly (NAME.s).
  std::string dump_folder;
  int jobs = 1;  // threads that compile kernels
  // Who decides how kernels are scheduled; outlives the call. Null: the strategies' cost models.
  const KernelChooser* chooser = nullptr;
  // The classes of feature maps that get another layout than is predicted to be best, for one graph and one
  // target. Without them, ChooseLayoutOverrides() decides, by what the chooser has measured.
  std::optional<LayoutOverrides> layout_overrides;
  // Whether constants are compressed in the file, without loss, where that makes it smaller: it then takes
  // longer to load, and the loaded weights are memory of the process's own. Kernels are the same.
  bool compress_constants = false;
  // For the artifact's provenance: the passes that the graph went through, and the model's file.
  std::string pass_plan;
  std::string model_name, model_sha256;
  // Asked and told before each network is planned, each kernel compiled, and packing and linking.
  WorkControl control;
};

// Seconds in each stage, and counts over all targets, for people.
struct CompileReport {
  double plan_seconds = 0, codegen_seconds = 0, pack_seconds = 0, link_seconds = 0;
  int num_kernels = 0;
  int num_measured = 0;                          // of which were chosen by their measurements
  int num_changed = 0;                           // of these, whose code is other than what was measured
  int num_similar = 0;                           // or by those of tasks like theirs
  std::vector<PlannedContraction> contractions;  // of the first graph, for the best target
};

// The stages of plan/: arranges the groups of `graph`, as the options say, and chooses their kernels.
// Errors: as Compile().
absl::StatusOr<NetworkPlan> ArrangeAndPlan(Graph& graph, const CompileOptions& options);

// Plans `graphs`, generates their code and prepacks their weights. They are graphs of fused groups and one
// network, each at other input shapes. The bytes of the artifact's file depend on the graphs and the options
// alone, not on `jobs`, `dump_folder` and `control` among them. Measured times enter by the chooser and the
// layout overrides, and in no other way.
// Errors: Unimplemented with a line "NS …" for each operator that has no code; Cancelled; internal otherwise.
absl::StatusOr<std::string> Compile(const std::vector<const Graph*>& graphs, const CompileOptions& options,
                                    CompileReport* report = nullptr);

}  // namespace attune

#endif  // ATTUNE_COMPILE_COMPILE_H_
