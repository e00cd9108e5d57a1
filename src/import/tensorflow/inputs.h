// The shapes of a model's inputs.
#ifndef ATTUNE_IMPORT_TENSORFLOW_INPUTS_H_
#define ATTUNE_IMPORT_TENSORFLOW_INPUTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "import/tensorflow/import.h"
#include "import/tensorflow/model.h"

namespace attune::tensorflow {

// The shape of each input, from the options or the model. The error lists all inputs whose shapes are still
// open, and how to give them.
absl::StatusOr<std::vector<Shape>> BindShapes(const std::vector<Endpoint>& inputs,
                                              const ImportOptions& options);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_INPUTS_H_
