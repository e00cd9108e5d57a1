// The declared inputs and outputs of a model.
#ifndef ATTUNE_IMPORT_ONNX_INPUTS_H_
#define ATTUNE_IMPORT_ONNX_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "import/onnx/import.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

// Inputs without an initializer.
std::vector<const attune_onnx::ValueInfoProto*> RealInputs(const attune_onnx::GraphProto& graph);

DeclaredTensor DescribeValue(const attune_onnx::ValueInfoProto& info);

// The shape of each input, from the model, the options, and symbols that another input binds. The error
// lists all inputs whose shapes are still open, and how to give them.
absl::StatusOr<std::vector<Shape>> BindShapes(const std::vector<const attune_onnx::ValueInfoProto*>& inputs,
                                              const OnnxImportOptions& options);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_INPUTS_H_
