// The shapes that a graph of the file declares for what its nodes make.
#ifndef ATTUNE_IMPORT_ONNX_DECLARED_SHAPES_H_
#define ATTUNE_IMPORT_ONNX_DECLARED_SHAPES_H_

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "graph/type.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

// The declared shape of a tensor; a size that the file leaves open is -1. nullopt if it states no shape.
std::optional<Shape> DeclaredShape(const attune_onnx::ValueInfoProto& info);

// Refers to the graph that it is made from.
class DeclaredShapes {
 public:
  explicit DeclaredShapes(const attune_onnx::GraphProto& graph);
  // The shape that the graph declares for a value or an output; nullopt if it declares none.
  std::optional<Shape> Find(const std::string& name) const;

 private:
  std::unordered_map<std::string_view, const attune_onnx::ValueInfoProto*> infos_;
};

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_DECLARED_SHAPES_H_
