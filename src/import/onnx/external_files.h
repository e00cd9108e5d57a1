// The files besides its own that a model consists of.
#ifndef ATTUNE_IMPORT_ONNX_EXTERNAL_FILES_H_
#define ATTUNE_IMPORT_ONNX_EXTERNAL_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

// The files that hold external data of the model's tensors, wherever they are in it: paths below `folder`,
// sorted, each once. Fails like ExternalData::Open() if one is not there or is not the model's own.
absl::StatusOr<std::vector<std::string>> ExternalFiles(const attune_onnx::ModelProto& model,
                                                       const std::string& folder);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_EXTERNAL_FILES_H_
