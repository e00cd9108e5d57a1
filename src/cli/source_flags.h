// Which model a command takes, and what it is told of the model's inputs.
#ifndef ATTUNE_CLI_SOURCE_FLAGS_H_
#define ATTUNE_CLI_SOURCE_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "api/network.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/samples.h"

namespace attune {

struct SourceFlags {
  std::string model;
  std::vector<std::string> shapes;  // "input=1x3x224x224"
  std::string signature;            // of a model that has several; empty: the one for inference
};

// Adds MODEL, --shape and --signature.
void AddSourceFlags(CLI::App& command, SourceFlags& flags, const std::string& model_help);

// For CLI11: empty, or why a text like "a=1x128 b=1x128" is no set of shapes.
std::string CheckShapeSet(const std::string& text);
// The shapes that such a text gives.
std::vector<std::string> ShapesOfSet(const std::string& text);

// The inputs, as the command line describes them.
struct Givens {
  ModelOptions options;
  GivenInputs inputs;
  Samples samples;  // to quantize with
};

// Reads the values and, where `samples` is not nullptr, the samples; the model's shapes follow from both.
absl::StatusOr<Givens> ReadGivens(const SourceFlags& flags, const InputFlags& inputs,
                                  const SampleFlags* samples, Progress& progress);

}  // namespace attune

#endif  // ATTUNE_CLI_SOURCE_FLAGS_H_
