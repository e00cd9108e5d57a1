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
#include "graph/picture_comments.h"
#include "plan/blocks.h"
#include "plan/chooser.h"
#include "plan/contractions.h"
#include "plan/program.h"
#include "sizes/fit.h"
#include "target/target.h"

namespace attune {

// The compiler's name and version in artifacts and records.
inline constexpr std::string_view kCompilerVersion = "attune 0.1.0";

struct CompileOptions {
  Target target;
  // Other processors, with different names, that the artifact gets code for as well. The runtime takes the
  // best one that it can run.
  std::vector<Target> more_targets;
  // Where not empty, an existing folder: for each kernel its group (NAME.graph), schedule (NAME.json), loop
  // nest (NAME.loops), LLVM IR (NAME.ll) and assembly (NAME.s).
  std::string dump_folder;
  int jobs = 1;  // threads that compile kernels
  // Decides how kernels are scheduled; must outlive the call. Null: the strategies' cost models.
  const KernelChooser* chooser = nullptr;
  // The classes of feature maps that get another layout than the one predicted to be best; for one graph
  // and one target. If not set, ChooseLayoutOverrides() decides, from what the chooser has measured.
  std::optional<LayoutOverrides> layout_overrides;
  // Whether to compress constants in the file, without loss, where that makes it smaller. The file then
  // takes longer to load, and its weights are not mapped but take the process's own memory. Kernels are the
  // same.
  bool compress_constants = false;
  // If not empty, the graphs are one network at these points, and the artifact has one program, for all
  // sizes.
  OpenSizes open;
  // Whether it is an error if no schedule but plain loops applies to a product at open sizes.
  bool open_must_be_fast = false;
  // For the artifact's provenance: the passes that the graph went through, and the model's file.
  std::string pass_plan;
  std::string model_name, model_sha256;
  // The formats of pictures for inputs, as far as they are known; the artifact has them as comments before
  // its graphs.
  PictureFormats pictures;
  // Asked whether to continue, and told the progress, before each network is planned, before each kernel is
  // compiled, and before packing and linking.
  WorkControl control;
};

// Seconds in each stage, and counts over all targets, for people.
struct CompileReport {
  double plan_seconds = 0, codegen_seconds = 0, pack_seconds = 0, link_seconds = 0;
  int num_kernels = 0;
  int num_measured = 0;                          // kernels chosen by their own measurements
  int num_changed = 0;                           // kernels whose code is not the code measured
  int num_similar = 0;                           // kernels chosen by measurements of similar tasks
  std::vector<PlannedContraction> contractions;  // of the first graph, for the best target
  std::vector<std::string> slow_products;        // NetworkPlan::slow_products of the same plan
};

// The stages of plan/: arranges the groups of `graph`, as the options say, and chooses their kernels.
// Errors: as Compile().
absl::StatusOr<NetworkPlan> ArrangeAndPlan(Graph& graph, const CompileOptions& options);

// Plans `graphs`, generates their code and prepacks their weights. The graphs consist of fused groups and
// are one network at different input shapes. The bytes of the artifact's file depend on the graphs and the
// options alone, and not on the options `jobs`, `dump_folder` and `control`. Measured times enter by the
// chooser and the layout overrides, and in no other way.
// Errors: Unimplemented with a line for each operator that has no code; Cancelled; internal otherwise.
absl::StatusOr<std::string> Compile(const std::vector<const Graph*>& graphs, const CompileOptions& options,
                                    CompileReport* report = nullptr);

}  // namespace attune

#endif  // ATTUNE_COMPILE_COMPILE_H_
