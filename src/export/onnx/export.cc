#include "export/onnx/export.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/picture_format.h"
#include "base/status.h"
#include "export/onnx/graph_writer.h"
#include "import/onnx/onnx.pb.h"

namespace attune {
namespace {

// The largest size that protobuf can parse.
constexpr int64_t kMaxFileBytes = INT32_MAX;

int64_t ConstantBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kConstant) bytes += node->output()->constant()->num_bytes();
    for (int i = 0; i < node->num_regions(); ++i) bytes += ConstantBytes(node->region(i));
  }
  return bytes;
}

absl::Status TooLarge(const Graph& graph, int64_t bytes) {
  return NotSupported(kNotSupportedMark, "Graph ", graph.name(), ": it takes ", bytes,
                      " bytes, and a model file without external data has at most ", kMaxFileBytes);
}

// The version of the file format that belongs to an opset.
int64_t IrVersion(int64_t opset) {
  constexpr struct {
    int64_t opset, version;
  } kVersions[] = {{18, 8}, {20, 9}, {22, 10}, {23, 11}, {25, 12}};
  for (const auto& row : kVersions) {
    if (opset <= row.opset) return row.version;
  }
  return 13;
}

}  // namespace

absl::StatusOr<std::string> ExportOnnxBytes(const Graph& graph, const PictureFormats& pictures) {
  if (const int64_t bytes = ConstantBytes(graph); bytes > kMaxFileBytes) return TooLarge(graph, bytes);
  attune_onnx::ModelProto model;
  onnx_export::GraphWriter writer;
  RETURN_IF_ERROR(writer.WriteModel(graph, model.mutable_graph()));
  model.set_ir_version(IrVersion(writer.opset()));
  model.set_producer_name("attune");
  auto* opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(writer.opset());
  for (const auto& [input, format] : pictures) {
    auto* entry = model.add_metadata_props();
    entry->set_key(absl::StrCat(kPictureKey, input));
    entry->set_value(ToString(format));
  }
  if (const auto bytes = static_cast<int64_t>(model.ByteSizeLong()); bytes > kMaxFileBytes) {
    return TooLarge(graph, bytes);
  }
  std::string file;
  if (!model.SerializeToString(&file)) return InternalError("the model cannot be serialized");
  return file;
}

absl::Status ExportOnnx(const Graph& graph, const std::string& path, const PictureFormats& pictures) {
  ASSIGN_OR_RETURN(const std::string bytes, ExportOnnxBytes(graph, pictures));
  return WriteFileAtomically(path, bytes);
}

}  // namespace attune
