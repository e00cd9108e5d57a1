#include "api/model_declaration.h"

#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "import/import.h"
#include "import/onnx/import.h"

namespace attune {

InputDeclaration Declare(const DeclaredTensor& info) {
  InputDeclaration declaration;
  declaration.name = info.name;
  declaration.dtype = ParseDType(info.dtype);
  declaration.dtype_name = info.dtype;
  declaration.dims = info.dims;
  declaration.ranked = info.ranked;
  for (const std::string& dim : info.dims) {
    int64_t size = 0;
    declaration.shape.push_back(absl::SimpleAtoi(dim, &size) ? size : -1);
  }
  return declaration;
}

absl::StatusOr<ModelDeclaration> ReadModelDeclaration(const std::string& path, const std::string& signature) {
  ModelDeclaration declaration;
  ASSIGN_OR_RETURN(const ModelFormat format, FormatOf(path));
  if (format != ModelFormat::kOnnx) {
    ASSIGN_OR_RETURN(declaration.inputs, ReadInputDeclarations(path, signature));
    return declaration;
  }
  ASSIGN_OR_RETURN(OnnxModelInfo info, ReadOnnxInfo(path));
  for (const DeclaredTensor& input : info.inputs) declaration.inputs.push_back(Declare(input));
  for (const DeclaredTensor& output : info.outputs) declaration.outputs.push_back(Declare(output));
  declaration.about = std::move(info.about);
  declaration.metadata = std::move(info.metadata);
  return declaration;
}

}  // namespace attune
