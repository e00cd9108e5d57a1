// Reads the inputs, outputs and origin that a model's file declares, without importing the model.
#ifndef ATTUNE_API_MODEL_DECLARATION_H_
#define ATTUNE_API_MODEL_DECLARATION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/tensors.h"
#include "import/common/declared_tensor.h"

namespace attune {

struct ModelDeclaration {
  std::vector<InputDeclaration> inputs;
  // The rest is that of an ONNX model, and empty for others; `about` and `metadata` as in OnnxModelInfo.
  std::vector<InputDeclaration> outputs;
  std::map<std::string, std::string> about, metadata;
};

// The model at `path`, which is no artifact.
absl::StatusOr<ModelDeclaration> ReadModelDeclaration(const std::string& path,
                                                      const std::string& signature = "");

// A declaration as the file has it.
InputDeclaration Declare(const DeclaredTensor& info);

}  // namespace attune

#endif  // ATTUNE_API_MODEL_DECLARATION_H_
