#include "reference/widen.h"

#include <variant>

#include "base/status.h"
#include "reference/values.h"

namespace attune {
namespace {

void WidenType(Value& value) {
  TensorType type = value.type();
  if (!IsFloat(type.dtype)) return;
  type.dtype = DType::kF64;
  value.set_type(std::move(type));
}

absl::Status WidenAttributes(Attributes& attributes) {
  for (const auto& [name, attribute] : Attributes(attributes)) {
    if (const DType* dtype = std::get_if<DType>(&attribute); dtype != nullptr && IsFloat(*dtype)) {
      attributes.Set(name, DType::kF64);
    } else if (const Tensor* tensor = std::get_if<Tensor>(&attribute)) {
      ASSIGN_OR_RETURN(Tensor wide, WidenFloats(*tensor));
      attributes.Set(name, std::move(wide));
    }
  }
  return absl::OkStatus();
}

absl::Status WidenInPlace(Graph& graph) {
  for (const auto& input : graph.inputs()) WidenType(*input);
  for (const auto& node : graph.nodes()) {
    RETURN_IF_ERROR(WidenAttributes(node->mutable_attrs()));
    for (int i = 0; i < node->num_outputs(); ++i) WidenType(*node->output(i));
    for (int i = 0; i < node->num_regions(); ++i) RETURN_IF_ERROR(WidenInPlace(node->region(i)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> WidenFloats(const Tensor& tensor) {
  if (!IsFloat(tensor.dtype()) || tensor.dtype() == DType::kF64) return tensor;
  return reference::Store(reference::Load<double>(tensor), DType::kF64, tensor.shape());
}

absl::StatusOr<std::unique_ptr<Graph>> WidenFloats(const Graph& graph) {
  std::unique_ptr<Graph> wide = graph.Clone();
  RETURN_IF_ERROR(WidenInPlace(*wide));
  return wide;
}

}  // namespace attune
