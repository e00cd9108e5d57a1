// The flags that most commands share, and how they load the network.
#ifndef ATTUNE_CLI_MODEL_FLAGS_H_
#define ATTUNE_CLI_MODEL_FLAGS_H_

#include <memory>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "api/pipeline.h"
#include "cli/artifact_flags.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/inputs.h"
#include "cli/source_flags.h"
#include "measure/service.h"
#include "options/settings.h"

namespace attune {

struct ModelFlags : SourceFlags {
  ArtifactFlags artifact;
  bool describe_only = false;   // an artifact may be for another processor; it is not run
  std::string why_no_artifact;  // why an artifact is refused; empty: it is not
  CompileSettings compile;      // its pass plan is the name of a file, or "print"
  std::string json;
  SampleSettings samples;  // calibration samples, for the commands that quantize
  std::string on;          // the key of a device elsewhere; empty: this machine
  // Measures on that device, which everything is compiled for; null: this machine. Set when the action
  // begins.
  std::shared_ptr<MeasuringService> service;

  bool prints_plan() const { return compile.passes == "print"; }
};

// Adds MODEL, --shape, --signature, the flags of compiling, --on and --json. `thread_help` says what the
// threads do.
void AddModelFlags(CLI::App& command, ModelFlags& flags, const std::string& thread_help);

// Whether the flag of this name, without dashes, says how a model becomes an artifact, and so is wrong with
// an artifact.
bool IsForCompiling(std::string_view flag);

// The action of a command's callback: `run`, after --on has found its device, or printing the default plan if
// --passes asks for that. Throws the parser's error if MODEL is missing.
Action ModelAction(ModelFlags& flags, Action run);

// Why commands that compile refuse an artifact.
inline constexpr char kWhyCompiledAlready[] = "is compiled already; give the model that it was made from";

// The model that the flags name, what they say of it besides, and what they ask of the compiler.
struct ModelWork {
  OpenedModel model;
  NetworkSource source;
  CompileRequest request;
  StageSeconds seconds;
};

// Opens the model, reads the file of --passes and makes the folder of --dump. `jobs` are the threads that
// compile (0: all processors). Fails if the flags contradict one another, or the model.
absl::StatusOr<ModelWork> OpenModel(const ModelFlags& flags, const InputSources& inputs, int jobs,
                                    Progress& progress);

// Loads the model and, unless it is an artifact, optimizes and compiles it on all processors.
absl::StatusOr<ReadyNetwork> LoadNetwork(const ModelFlags& flags, const InputSources& inputs,
                                         Progress& progress);

}  // namespace attune

#endif  // ATTUNE_CLI_MODEL_FLAGS_H_
