#include "reference/convert_floats.h"

#include <variant>

#include "base/status.h"
#include "reference/values.h"

namespace attune {
namespace {

void ConvertType(Value& value, DType to) {
  TensorType type = value.type();
  if (!IsFloat(type.dtype)) return;
  type.dtype = to;
  value.set_type(std::move(type));
}

absl::Status ConvertAttributes(Attributes& attributes, DType to) {
  for (const auto& [name, attribute] : Attributes(attributes)) {
    if (const DType* dtype = std::get_if<DType>(&attribute); dtype != nullptr && IsFloat(*dtype)) {
      attributes.Set(name, to);
    } else if (const Tensor* tensor = std::get_if<Tensor>(&attribute)) {
      ASSIGN_OR_RETURN(Tensor converted, ConvertFloats(*tensor, to));
      attributes.Set(name, std::move(converted));
    }
  }
  return absl::OkStatus();
}

absl::Status ConvertInPlace(Graph& graph, DType to) {
  for (const auto& input : graph.inputs()) ConvertType(*input, to);
  for (const auto& node : graph.nodes()) {
    RETURN_IF_ERROR(ConvertAttributes(node->mutable_attrs(), to));
    for (int i = 0; i < node->num_outputs(); ++i) ConvertType(*node->output(i), to);
    for (int i = 0; i < node->num_regions(); ++i) RETURN_IF_ERROR(ConvertInPlace(node->region(i), to));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> ConvertFloats(const Tensor& tensor, DType to) {
  if (!IsFloat(tensor.dtype()) || tensor.dtype() == to) return tensor;
  return reference::Store(reference::Load<double>(tensor), to, tensor.shape());
}

absl::StatusOr<std::unique_ptr<Graph>> ConvertFloats(const Graph& graph, DType to) {
  std::unique_ptr<Graph> converted = graph.Clone();
  RETURN_IF_ERROR(ConvertInPlace(*converted, to));
  return converted;
}

}  // namespace attune
