// A model's inputs and their shapes: those from the options, those that the model declares, and the error for
// the ones that it leaves open.
#ifndef ATTUNE_IMPORT_COMMON_INPUT_SHAPES_H_
#define ATTUNE_IMPORT_COMMON_INPUT_SHAPES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/face.h"
#include "graph/graph.h"
#include "import/common/declared_tensor.h"
#include "import/common/evaluator.h"
#include "import/common/import_options.h"

namespace attune::importing {

// The properties of a format that matter for shapes.
struct InputRules {
  std::string_view what = "model";  // has the inputs
  bool channels_last = false;       // the position of channels in images
  bool has_unique_symbols = false;  // whether a symbol must have the same size in all given shapes
  std::string_view advice = {};     // ends the error about a shape that does not fit
};

// Returns an example of the shape of an input: 1 for the first open dimension, 224 for the others of an image
// with four dimensions, and else 128. Without a declared shape, an image, or 128 integers.
WrittenShape ExampleShape(const DeclaredTensor& input, const InputRules& rules);

// Returns the shape of each input: from the options, directly or by its value, or from the model and the
// symbols that other inputs bind. Fails if a given shape does not fit, or with a list of all inputs whose
// shapes are still open and an example of how to give them.
absl::StatusOr<std::vector<Shape>> BindShapes(const std::vector<DeclaredTensor>& inputs,
                                              const ImportOptions& options, const InputRules& rules = {});

// Adds an input to the graph, and its value if the options give one. Throws ImportFailure if the type is not
// valid, or not that of the value.
Value* AddInput(Graph& graph, const std::string& name, TensorType type, const ImportOptions& options,
                Evaluator& evaluator);

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_INPUT_SHAPES_H_
