// The compiler's driver: the stages in order, and nothing else.
#ifndef ATTUNE_COMPILE_COMPILE_H_
#define ATTUNE_COMPILE_COMPILE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "opt/driver.h"
#include "target/target.h"

namespace attune {

struct CompileOptions {
  Target target;
  PassPlan passes = DefaultPlan();
  RunOptions pass_options;
  // Where not empty, an existing folder: the graph after each pass, and for each kernel its group, schedule
  // (NAME.json), loop nest (NAME.loops), LLVM IR (NAME.ll) and assembly (NAME.s).
  std::string dump_folder;
  int jobs = 1;  // threads that compile kernels
  std::string model_name, model_sha256;
};

// Seconds in each stage, for people.
struct CompileReport {
  std::vector<StepReport> passes;
  double pass_seconds = 0, plan_seconds = 0, codegen_seconds = 0, pack_seconds = 0, link_seconds = 0;
  int num_kernels = 0;
};

// Optimizes `graph` in place, plans it, generates its code and packs its weights. The bytes of the artifact's
// file depend on the graph and the options' target and passes alone. Errors: Unimplemented with a line "NS …"
// for each operator that has no code; internal otherwise.
absl::StatusOr<std::string> Compile(Graph& graph, const CompileOptions& options,
                                    CompileReport* report = nullptr);

}  // namespace attune

#endif  // ATTUNE_COMPILE_COMPILE_H_
