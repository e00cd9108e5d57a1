#include "import/onnx/model.h"

#include <utility>

#include "base/status.h"
#include "import/onnx/parse.h"
#include "import/onnx/tensor_proto.h"

namespace attune::onnx {

absl::StatusOr<std::unique_ptr<OnnxModel>> OnnxModel::Parse(std::string_view bytes, std::string folder) {
  if (bytes.empty()) return InvalidInput("the file is empty");
  std::unique_ptr<OnnxModel> model(new OnnxModel);
  ModelProto& proto = model->proto_;
  RETURN_IF_ERROR(ParseProto(bytes, proto, "the file"));
  if (!proto.has_ir_version() || !proto.has_graph()) {
    return InvalidInput("the file is not an ONNX model: it has no ",
                        proto.has_graph() ? "IR version" : "graph");
  }
  model->folder_ = std::move(folder);
  model->num_bytes_ = static_cast<int64_t>(proto.ByteSizeLong());
  return model;
}

absl::StatusOr<Tensor> OnnxModel::TensorOf(const TensorProto& proto) {
  const auto known = tensors_.find(&proto);
  if (known != tensors_.end()) return known->second;
  ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto, folder_));
  return tensors_[&proto] = std::move(tensor);
}

absl::StatusOr<Tensor> OnnxModel::Initializer(int index) {
  absl::StatusOr<Tensor> tensor = TensorOf(proto_.graph().initializer(index));
  if (tensor.ok()) delete proto_.mutable_graph()->mutable_initializer(index)->release_raw_data();
  return tensor;
}

}  // namespace attune::onnx
