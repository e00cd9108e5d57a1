// The shapes, values and samples that a user gives for the inputs of a model.
#ifndef ATTUNE_API_GIVENS_H_
#define ATTUNE_API_GIVENS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/inputs.h"
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
// a file, or the argument as the command line has it.
absl::StatusOr<Givens> ReadGivens(OpenedModel& model, const std::vector<std::string>& shapes,
                                  const InputSources& inputs, const SampleSettings* samples,
                                  const WorkControl& control);

}  // namespace attune

#endif  // ATTUNE_API_GIVENS_H_
