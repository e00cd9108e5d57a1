#include "import/tensorflow/import.h"

#include <filesystem>
#include <system_error>

#include "base/status.h"
#include "import/tensorflow/importer.h"
#include "import/tensorflow/model.h"

namespace attune {
namespace {

using tensorflow::Model;

// The first field of a message: its number, and that a length follows.
constexpr char kField1 = 0x0A;
constexpr char kField2 = 0x12;

// The byte after a length of 1 to 5 bytes at `at`.
char AfterLength(std::string_view bytes, size_t at) {
  while (at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0x80) != 0) ++at;
  return at + 1 < bytes.size() ? bytes[at + 1] : '\0';
}

}  // namespace

// A GraphDef begins with a node, which begins with its name; a SavedModel begins with version 1 and a
// graph, which begins with a message about it. Other formats based on protocol buffers begin with a number,
// or with version 1 and text.
bool LooksLikeTensorflow(std::string_view head) {
  if (head.size() < 4) return false;
  if (head[0] == kField1) return AfterLength(head, 1) == kField1;
  return head[0] == 0x08 && head[1] == 0x01 && head[2] == kField2 && AfterLength(head, 3) == kField1;
}

bool IsSavedModelFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(std::filesystem::path(path) / "saved_model.pb", error);
}

absl::Status CheckNotKeras(std::string_view head) {
  constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";
  constexpr std::string_view kZip = "PK\x03\x04";
  if (head.substr(0, kHdf5.size()) != kHdf5 && head.substr(0, kZip.size()) != kZip) return absl::OkStatus();
  return NotSupported(
      "NS Model Keras: a Keras file (.h5, .keras) describes layers, not a graph; export it with "
      "python -c \"import keras; keras.models.load_model('MODEL').export('FOLDER')\" and give FOLDER");
}

absl::StatusOr<TensorflowModelInfo> ReadTensorflowInfo(const std::string& path,
                                                       const TensorflowImportOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, Model::FromPath(path, options));
  TensorflowModelInfo info;
  for (const auto& input : model->inputs()) info.inputs.push_back(Describe(input));
  for (const auto& output : model->outputs()) info.outputs.push_back(Describe(output));
  info.signatures = model->signatures();
  info.producer = model->producer();
  return info;
}

absl::StatusOr<std::unique_ptr<Graph>> ImportTensorflow(const std::string& path,
                                                        const TensorflowImportOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, Model::FromPath(path, options));
  absl::StatusOr<std::unique_ptr<Graph>> graph = tensorflow::Importer(*model, options).Run();
  // The lines of an NS list are complete without the path.
  if (!graph.ok() && !absl::IsUnimplemented(graph.status())) return Annotate(graph.status(), path);
  return graph;
}

absl::StatusOr<std::unique_ptr<Graph>> ImportTensorflowBytes(std::string_view bytes,
                                                             const std::string& folder,
                                                             const TensorflowImportOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, Model::FromBytes(bytes, folder, options));
  return tensorflow::Importer(*model, options).Run();
}

}  // namespace attune
