// ONNX model files → Graph.
//
// Opsets 7 to 26, of the default domain, ai.onnx.preview.training and model-local functions (inlined);
// older opsets if an operator's meaning did not change. Every shape is concrete after import: operands that
// are tensors but must be known (Reshape's shape, Pad's pads, …) are computed at import from constants,
// from shapes, and from the inputs whose values are given.
//
// A model file is hostile input: memory, recursion and work are bounded, and no file outside the model's
// folder is read.
#ifndef ATTUNE_IMPORT_ONNX_IMPORT_H_
#define ATTUNE_IMPORT_ONNX_IMPORT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "import/common/import_options.h"
#include "import/common/parsed_model.h"

namespace attune {

using OnnxImportOptions = ImportOptions;

// Parses the bytes of a model, whose input and output names are those of its graphs. `folder` is the folder
// for external data; empty: external data is refused.
absl::StatusOr<std::unique_ptr<ParsedModel>> ParseOnnx(std::string_view bytes, const std::string& folder);

// A serialized TensorProto (the .pb files that accompany ONNX models). Integers with fewer than 8 bits
// become i8 or u8.
absl::StatusOr<Tensor> TensorFromOnnxProto(std::string_view bytes);

}  // namespace attune

#endif  // ATTUNE_IMPORT_ONNX_IMPORT_H_
