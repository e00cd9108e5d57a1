#include "import/onnx/declared_shapes.h"

namespace attune::onnx {

std::optional<Shape> DeclaredShape(const attune_onnx::ValueInfoProto& info) {
  const auto& tensor = info.type().tensor_type();
  if (!tensor.has_shape()) return std::nullopt;
  Shape shape;
  for (const auto& dim : tensor.shape().dim())
    shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  return shape;
}

DeclaredShapes::DeclaredShapes(const attune_onnx::GraphProto& graph) {
  for (const auto& info : graph.output()) infos_.emplace(info.name(), &info);
  for (const auto& info : graph.value_info()) infos_.emplace(info.name(), &info);
}

std::optional<Shape> DeclaredShapes::Find(const std::string& name) const {
  const auto it = infos_.find(name);
  return it != infos_.end() ? DeclaredShape(*it->second) : std::nullopt;
}

}  // namespace attune::onnx
