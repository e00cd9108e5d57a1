// What a network is quantized with, from the command line: samples of what it is for, and what may be lost.
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
  int64_t most = 1000;  // samples that are read
  std::string max_drop = "1%";
  std::string agreement;  // a name that quant::FindCriterion() knows; empty: the default one
};

// Adds --data, --samples, --max-drop and --agreement. `needed`: whether the command cannot do without --data.
void AddSampleFlags(CLI::App& command, SampleFlags& flags, bool needed);

using Samples = std::vector<std::vector<NamedTensor>>;

// The samples of the folder, by name: a file each, for the one input that no flag gives, or a folder each, of
// files that are named as the inputs. `given` by the command line are the same in each; `inputs` says how
// files are read. Errors name the file.
absl::StatusOr<Samples> ReadSamples(const SampleFlags& flags, const InputFlags& inputs,
                                    const GivenInputs& given,
                                    const std::vector<InputDeclaration>& declarations, Progress& progress);

// As --precision says, int8 or auto, and the flags; for `target`, which is this machine where `is_here`.
QuantizeOptions QuantizeOptionsOf(const std::string& precision, const SampleFlags& flags,
                                  const Target& target, bool is_here, Progress& progress);

}  // namespace attune

#endif  // ATTUNE_CLI_SAMPLES_H_
