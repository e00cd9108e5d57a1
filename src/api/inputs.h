// The values of a network's inputs, from files.
#ifndef ATTUNE_API_INPUTS_H_
#define ATTUNE_API_INPUTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "api/tensors.h"
#include "options/settings.h"

namespace attune {

// Names the sources of the inputs' values, and says how pictures become numbers.
struct InputSources {
  std::vector<std::string> inputs;  // "NAME=FILE", "NAME=random:SEED", or either without the name
  PictureSettings pictures;
  // Called with what a person should know of a file that is used nevertheless; may be empty.
  std::function<void(std::string_view)> note = {};
};

struct GivenInputs {
  std::vector<NamedTensor> values;         // from files
  std::map<std::string, uint64_t> random;  // the seeds of the inputs that are drawn at random
  // The file of a picture whose samples are numbers of 0 to 255 in an input of floats only because nothing
  // says which numbers they should be.
  std::map<std::string, std::string> raw_pictures;
};

// Reads the files. The content and the name of a file determine its kind: .npy, an ONNX tensor (.pb), a
// picture or a sound becomes a tensor as the declaration requires; anything else is the raw bytes of the
// elements. Errors name the file, or the argument as the command line has it ("--input x=…").
absl::StatusOr<GivenInputs> ReadInputs(const InputSources& sources,
                                       const std::vector<InputDeclaration>& declarations);

// Reads a picture for the input of this name, or for the only one if the name is empty. Calls `note`, which
// may be empty, with the text of RawPictureNote() where that holds. Errors name the file, or the input.
absl::StatusOr<NamedTensor> ReadPicture(const std::string& path, const std::string& input,
                                        const PictureSettings& settings,
                                        const std::vector<InputDeclaration>& declarations,
                                        const std::function<void(std::string_view)>& note);

}  // namespace attune

#endif  // ATTUNE_API_INPUTS_H_
