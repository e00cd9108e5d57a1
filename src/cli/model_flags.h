// The flags that most commands share, and the network that they ask for.
#ifndef ATTUNE_CLI_MODEL_FLAGS_H_
#define ATTUNE_CLI_MODEL_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "api/network.h"
#include "cli/artifact_flags.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/samples.h"
#include "cli/source_flags.h"

namespace attune {

struct ModelFlags : SourceFlags {
  ArtifactFlags artifact;
  bool describe_only = false;     // whether an artifact may be for another processor, and is not run
  std::vector<std::string> cpus;  // empty: this machine
  std::string precision = "fp32";
  std::string weights = "fp32";  // what they are rounded to and stored in: fp32, fp16 or bf16
  bool compact = false;          // whether they are compressed without loss
  std::string passes;            // a plan's file, "print", or empty for the default
  std::string dump;
  std::string records;  // a file, "none", or empty for the default one
  std::string json;
  SampleFlags samples;  // what it is quantized with, where the command does that
  int threads = 0;

  bool prints_plan() const { return passes == "print"; }
  bool is_quantized() const { return precision == "int8" || precision == "auto"; }
};

// Adds MODEL, --shape, --signature, --threads, --cpu, --precision, --weights, --compact, --passes, --dump,
// --records and --json. `thread_help` says what the threads do.
void AddModelFlags(CLI::App& command, ModelFlags& flags, const std::string& thread_help);

// For a command's callback: `run`, or printing the default plan where --passes asks for that. Throws the
// parser's error where MODEL is missing.
Action ModelAction(const ModelFlags& flags, Action run);

// A network ready to run, with the inputs that the command line gives.
struct ReadyNetwork {
  Network network;
  std::vector<NamedTensor> inputs;
};

struct StageSeconds {
  double load = 0, quantize = 0, optimize = 0, compile = 0;
  double total() const { return load + quantize + optimize + compile; }
};

// The pass plan that --passes asks for.
absl::StatusOr<PassPlan> ReadPlan(const ModelFlags& flags);

// Loads and optimizes a model that is no artifact, for this machine.
absl::StatusOr<Network> LoadOptimized(const ModelFlags& flags, const InputFlags& inputs, Progress& progress);

// How the contractions of a model that is no artifact would be computed; generates no code.
absl::StatusOr<std::vector<PlannedContraction>> PlanContractions(const ModelFlags& flags,
                                                                 const InputFlags& inputs,
                                                                 Progress& progress);

// Loads the model, and where it is no artifact optimizes and compiles it on `jobs` threads (0: all
// processors). `shape_sets`, where there are any, are texts as ShapesOfSet() takes; the network is compiled
// for each.
absl::StatusOr<ReadyNetwork> LoadNetwork(const ModelFlags& flags, const InputFlags& inputs, int jobs,
                                         Progress& progress, StageSeconds* seconds = nullptr,
                                         const std::vector<std::string>& shape_sets = {});

}  // namespace attune

#endif  // ATTUNE_CLI_MODEL_FLAGS_H_
