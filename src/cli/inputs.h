// The values of a network's inputs, from the command line.
#ifndef ATTUNE_CLI_INPUTS_H_
#define ATTUNE_CLI_INPUTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "api/tensors.h"

namespace attune {

struct InputFlags {
  std::vector<std::string> inputs;  // "NAME=FILE", "NAME=random:SEED", or either without the name
  std::string image_mean = "0";     // one number, or three with commas, in the order of the channels
  std::string image_scale = "1";
  std::string image_order = "rgb";
};

// Adds --input and --image-*.
void AddInputFlags(CLI::App& command, InputFlags& flags);

struct GivenInputs {
  std::vector<NamedTensor> values;         // from files
  std::map<std::string, uint64_t> random;  // the seeds of the inputs that are drawn at random
};

// Reads the files. The content and the name of a file determine its kind: .npy, an ONNX tensor (.pb), a
// picture or a sound becomes a tensor as the declaration requires; anything else is the raw bytes of the
// elements. Errors name the file.
absl::StatusOr<GivenInputs> ReadInputs(const InputFlags& flags,
                                       const std::vector<InputDeclaration>& declarations);

}  // namespace attune

#endif  // ATTUNE_CLI_INPUTS_H_
