// Quantization options from the command line: the samples, and the accuracy that may be lost.
#ifndef ATTUNE_CLI_SAMPLES_H_
#define ATTUNE_CLI_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "api/network.h"
#include "api/tensors.h"
#include "cli/inputs.h"
#include "cli/output.h"

namespace attune {

struct SampleFlags {
  std::string folder;
  int64_t most = 1000;  // reads at most this many samples
  std::string max_drop = "1%";
  std::string agreement;  // a name that quant::FindCriterion() knows; empty: the default
};

// Adds --data, --samples, --max-drop and --agreement. `needed`: whether --data is required.
void AddSampleFlags(CLI::App& command, SampleFlags& flags, bool needed);

using Samples = std::vector<std::vector<NamedTensor>>;

// Reads the samples in the folder, sorted by name: each is a file for the only input that no flag gives, or
// a folder of files named after the inputs. The `given` inputs from the command line are the same in every
// sample; `inputs` says how files are read. Errors name the file.
absl::StatusOr<Samples> ReadSamples(const SampleFlags& flags, const InputFlags& inputs,
                                    const GivenInputs& given,
                                    const std::vector<InputDeclaration>& declarations, Progress& progress);

// The options for --precision (int8 or auto) and the other flags, for `target`; `is_here`: whether that is
// this machine.
QuantizeOptions QuantizeOptionsOf(const std::string& precision, const SampleFlags& flags,
                                  const Target& target, bool is_here, Progress& progress);

}  // namespace attune

#endif  // ATTUNE_CLI_SAMPLES_H_
