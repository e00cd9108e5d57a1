// A parsed model, and the tensors that imports have made of it so far.
#ifndef ATTUNE_IMPORT_ONNX_MODEL_H_
#define ATTUNE_IMPORT_ONNX_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

// For one thread at a time.
class OnnxModel {
 public:
  // `folder` is the folder for external data; empty: external data is refused.
  static absl::StatusOr<std::unique_ptr<OnnxModel>> Parse(std::string_view bytes, std::string folder);
  OnnxModel(const OnnxModel&) = delete;
  OnnxModel& operator=(const OnnxModel&) = delete;

  const attune_onnx::ModelProto& proto() const { return proto_; }
  const std::string& folder() const { return folder_; }
  // The size of the message before any data was removed from it.
  int64_t num_bytes() const { return num_bytes_; }

  // The tensor that a message of the model states, made by the first call. Errors: as TensorFromProto().
  absl::StatusOr<Tensor> TensorOf(const attune_onnx::TensorProto& proto);
  // The same for an initializer of the model's graph; removes its data from the message, so that no weight is
  // in memory twice.
  absl::StatusOr<Tensor> Initializer(int index);

 private:
  OnnxModel() = default;

  attune_onnx::ModelProto proto_;
  std::string folder_;
  int64_t num_bytes_ = 0;
  std::unordered_map<const attune_onnx::TensorProto*, Tensor> tensors_;
};

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_MODEL_H_
