// TensorFlow Lite model files → Graph.
//
// Tensors keep the file's order of axes (NHWC); an operator whose canonical form has channels first is
// surrounded by transposes. Every shape is concrete after import: operands that are tensors but must be
// known (a target shape, paddings, axes) are computed at import from constants, from shapes, and from the
// inputs whose values are given. Variable tensors are zero: each run is a first run.
//
// Quantized operators compute what TensorFlow Lite's reference kernels do: products of integers and their
// requantization in fixed point are exact. Functions that those kernels look up in tables or approximate in
// fixed point are computed in floats and rounded half away from zero, so they differ by at most one step.
//
// A model file is hostile input: memory, recursion and work are bounded.
#ifndef ATTUNE_IMPORT_TFLITE_IMPORT_H_
#define ATTUNE_IMPORT_TFLITE_IMPORT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "import/common/import_options.h"
#include "import/common/parsed_model.h"

namespace attune {

// The shape that is given for an input replaces that in the model, and must have the same rank.
using TfliteImportOptions = ImportOptions;

// Whether the first bytes of a file (8 are enough) are those of a TensorFlow Lite model.
bool LooksLikeTflite(std::string_view head);

// Parses the bytes of a model. Its inputs and outputs have the names of the signature or, without one, of the
// tensors of the first subgraph ("input0", "output1", … for a tensor without a name, or with one that another
// has).
absl::StatusOr<std::unique_ptr<ParsedModel>> ParseTflite(std::string bytes);

}  // namespace attune

#endif  // ATTUNE_IMPORT_TFLITE_IMPORT_H_
