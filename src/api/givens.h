// The shapes, values and samples that a user gives for the inputs of a model.
#ifndef ATTUNE_API_GIVENS_H_
#define ATTUNE_API_GIVENS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "api/inputs.h"
#include "api/network.h"
#include "api/opened_model.h"
#include "api/samples.h"
#include "base/progress.h"

namespace attune {

struct Givens {
  InputOptions options;  // at which the model is imported
  GivenInputs inputs;
  Samples samples;  // for quantization
};

// Reads the values of inputs and, if `samples` is not null, the samples; the shapes at which the model is
// imported follow from both, and from `shapes`, texts as ParseNamedShape() reads them. Errors name the model,
// a file, or the argument as the command line has it. Says of inputs for pictures what the sources or the
// model say of these.
absl::StatusOr<Givens> ReadGivens(OpenedModel& model, const std::vector<std::string>& shapes,
                                  const InputSources& inputs, const SampleSettings* samples,
                                  const WorkControl& control);

// Calls `note`, which may be empty, for each input for which a picture went in as it is although the network,
// which was loaded for these givens, does not scale it itself. `option` is as in RawPictureNote().
void NoteRawPictures(const Givens& givens, const Network& network,
                     const std::function<void(std::string_view)>& note,
                     std::string_view option = "--preprocess");

}  // namespace attune

#endif  // ATTUNE_API_GIVENS_H_
