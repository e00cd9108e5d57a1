#include "import/onnx/external_files.h"

#include <filesystem>
#include <set>

#include "base/input_file.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune::onnx {
namespace {

using namespace attune_onnx;  // NOLINT: the schema's messages

// Collects the locations of all tensors. The depth is bounded, since the parser bounds that of messages.
class Locations {
 public:
  explicit Locations(const ModelProto& model) {
    Add(model.graph());
    for (const FunctionProto& function : model.functions()) {
      for (const NodeProto& node : function.node()) Add(node);
      for (const AttributeProto& attribute : function.attribute_proto()) Add(attribute);
    }
  }

  const std::set<std::string>& all() const { return all_; }

 private:
  void Add(const GraphProto& graph) {
    for (const TensorProto& tensor : graph.initializer()) Add(tensor);
    for (const SparseTensorProto& tensor : graph.sparse_initializer()) Add(tensor);
    for (const NodeProto& node : graph.node()) Add(node);
  }
  void Add(const NodeProto& node) {
    for (const AttributeProto& attribute : node.attribute()) Add(attribute);
  }
  void Add(const AttributeProto& attribute) {
    if (attribute.has_t()) Add(attribute.t());
    if (attribute.has_g()) Add(attribute.g());
    if (attribute.has_sparse_tensor()) Add(attribute.sparse_tensor());
    for (const TensorProto& tensor : attribute.tensors()) Add(tensor);
    for (const GraphProto& graph : attribute.graphs()) Add(graph);
    for (const SparseTensorProto& tensor : attribute.sparse_tensors()) Add(tensor);
  }
  void Add(const SparseTensorProto& tensor) {
    Add(tensor.values());
    Add(tensor.indices());
  }
  void Add(const TensorProto& tensor) {
    if (tensor.data_location() != TensorProto::EXTERNAL) return;
    for (const StringStringEntryProto& entry : tensor.external_data())
      if (entry.key() == "location") all_.insert(entry.value());
  }

  std::set<std::string> all_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> ExternalFiles(const ModelProto& model, const std::string& folder) {
  const Locations locations(model);
  std::set<std::string> files;
  for (const std::string& location : locations.all()) {
    const absl::StatusOr<InputFile> file = OpenInputFileBelow(folder, location);
    if (!file.ok())
      return Annotate(absl::InvalidArgumentError(file.status().message()),
                      absl::StrCat("external data in \"", Printable(location), "\""));
    // A slash at the end is ignored, as it is when the file is opened.
    const std::filesystem::path path = std::filesystem::path(location).lexically_normal();
    files.insert((path.has_filename() ? path : path.parent_path()).string());
  }
  return std::vector<std::string>(files.begin(), files.end());
}

}  // namespace attune::onnx
