// The values of a network's inputs, from files.
#ifndef ATTUNE_API_INPUTS_H_
#define ATTUNE_API_INPUTS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "api/tensors.h"

namespace attune {

// Names the sources of the inputs' values, and says how pictures become numbers.
struct InputSources {
  std::vector<std::string> inputs;  // "NAME=FILE", "NAME=random:SEED", or either without the name
  std::string image_mean = "0";     // as ParseChannels() reads it, in the order of the channels
  std::string image_scale = "1";
  std::string image_order = "rgb";  // or "bgr"
  // Called with what a person should know of a file that is used nevertheless; may be empty.
  std::function<void(std::string_view)> note = {};
};

// "0.5" for all channels, or "123.7,116.3,103.5"; nothing for other texts.
std::optional<std::array<double, 3>> ParseChannels(const std::string& text);

struct GivenInputs {
  std::vector<NamedTensor> values;         // from files
  std::map<std::string, uint64_t> random;  // the seeds of the inputs that are drawn at random
};

// Reads the files. The content and the name of a file determine its kind: .npy, an ONNX tensor (.pb), a
// picture or a sound becomes a tensor as the declaration requires; anything else is the raw bytes of the
// elements. Errors name the file, or the argument as the command line has it ("--input x=…").
absl::StatusOr<GivenInputs> ReadInputs(const InputSources& sources,
                                       const std::vector<InputDeclaration>& declarations);

}  // namespace attune

#endif  // ATTUNE_API_INPUTS_H_
