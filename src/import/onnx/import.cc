#include "import/onnx/import.h"

#include <filesystem>

#include "base/file.h"
#include "base/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "import/onnx/external_files.h"
#include "import/onnx/importer.h"
#include "import/onnx/inputs.h"
#include "import/onnx/tensor_proto.h"

namespace attune {
namespace {

using namespace onnx;  // NOLINT: this file is the folder's face

// Messages nest as graph → node → attribute → graph: this allows about 20 nested subgraphs.
constexpr int kMaxMessageDepth = 64;

template <typename Proto>
absl::Status ParseProto(std::string_view bytes, Proto& proto, std::string_view what) {
  // Protocol buffers are limited to 2 GiB; larger models keep their weights in separate files.
  if (bytes.size() > INT32_MAX) return InvalidInput(what, " is over 2 GiB, which no ONNX file can be");
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMaxMessageDepth);
  if (!proto.MergeFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return InvalidInput(what, " is damaged or cut short: it does not parse as ONNX");
  }
  return absl::OkStatus();
}

absl::Status ParseModel(std::string_view bytes, ModelProto& model) {
  if (bytes.empty()) return InvalidInput("the file is empty");
  RETURN_IF_ERROR(ParseProto(bytes, model, "the file"));
  if (!model.has_ir_version() || !model.has_graph()) {
    return InvalidInput("the file is not an ONNX model: it has no ",
                        model.has_graph() ? "IR version" : "graph");
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelProto> ReadModel(const std::string& path) {
  ModelProto model;
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, INT32_MAX));
  RETURN_IF_ERROR(Annotate(ParseModel(bytes, model), path));
  return model;
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

absl::StatusOr<OnnxModelInfo> ReadOnnxInfo(const std::string& path) {
  ASSIGN_OR_RETURN(const ModelProto model, ReadModel(path));
  OnnxModelInfo info;
  for (const ValueInfoProto* input : RealInputs(model.graph())) info.inputs.push_back(DescribeValue(*input));
  for (const ValueInfoProto& output : model.graph().output()) info.outputs.push_back(DescribeValue(output));
  for (const auto& opset : model.opset_import()) info.opsets[opset.domain()] = opset.version();
  info.ir_version = model.ir_version();
  info.about = {{"producer_name", model.producer_name()},
                {"producer_version", model.producer_version()},
                {"domain", model.domain()},
                {"description", model.doc_string()},
                {"version", absl::StrCat(model.model_version())},
                {"graph_name", model.graph().name()},
                {"graph_description", model.graph().doc_string()}};
  for (const auto& entry : model.metadata_props()) info.metadata[entry.key()] = entry.value();
  return info;
}

absl::StatusOr<std::vector<std::string>> ReadOnnxExternalFiles(const std::string& path) {
  ASSIGN_OR_RETURN(const ModelProto model, ReadModel(path));
  absl::StatusOr<std::vector<std::string>> files = ExternalFiles(model, FolderOf(path));
  if (!files.ok()) return Annotate(files.status(), path);
  return files;
}

absl::StatusOr<std::unique_ptr<Graph>> ImportOnnx(const std::string& path, const OnnxImportOptions& options) {
  ASSIGN_OR_RETURN(ModelProto model, ReadModel(path));
  absl::StatusOr<std::unique_ptr<Graph>> graph = Importer(&model, FolderOf(path), options).Run();
  // The lines of an NS list are complete without the path.
  if (absl::IsUnimplemented(graph.status())) return graph.status();
  if (!graph.ok()) return Annotate(graph.status(), path);
  return graph;
}

absl::StatusOr<std::unique_ptr<Graph>> ImportOnnxBytes(std::string_view bytes, const std::string& folder,
                                                       const OnnxImportOptions& options) {
  ModelProto model;
  RETURN_IF_ERROR(ParseModel(bytes, model));
  return Importer(&model, folder, options).Run();
}

absl::StatusOr<Tensor> TensorFromOnnxProto(std::string_view bytes) {
  TensorProto proto;
  RETURN_IF_ERROR(ParseProto(bytes, proto, "the tensor"));
  return TensorFromProto(proto, "");
}

}  // namespace attune
