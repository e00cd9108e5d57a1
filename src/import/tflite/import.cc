#include "import/tflite/import.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/status.h"
#include "import/tflite/importer.h"
#include "import/tflite/model.h"
#include "import/tflite/tensors.h"

namespace attune {
namespace {

using namespace tflite;  // NOLINT: this file is the folder's face

constexpr int64_t kMaxFileBytes = INT32_MAX;  // the format's limit

DeclaredTensor Declare(const schema::Tensor& tensor, std::string name) {
  DeclaredTensor declared;
  declared.name = std::move(name);
  declared.dtype = TypeName(tensor.type());
  // The signature has -1 for an open dimension; in the shape, the writer replaced it by a number.
  const Ints shape =
      SizeOf(tensor.shape_signature()) > 0 ? ToInts(tensor.shape_signature()) : ToInts(tensor.shape());
  declared.ranked = !shape.empty() || tensor.has_rank();
  for (int64_t dim : shape) declared.dims.push_back(dim < 0 ? "?" : absl::StrCat(dim));
  return declared;
}

std::vector<DeclaredTensor> DeclareAll(const Model& model, int subgraph, const Ints& tensors,
                                       const std::map<int64_t, std::string>& names, std::string_view what) {
  std::vector<std::string> unique = UniqueNames(model, subgraph, tensors, names, what);
  std::vector<DeclaredTensor> declared;
  for (size_t i = 0; i < tensors.size(); ++i) {
    declared.push_back(Declare(model.tensor(subgraph, static_cast<int>(tensors[i])), std::move(unique[i])));
  }
  return declared;
}

// If `signature` is nullptr, describes the subgraph with the names of its tensors.
TfliteEntryInfo Describe(const Model& model, int subgraph, const schema::SignatureDef* signature) {
  TfliteEntryInfo info;
  info.subgraph = subgraph;
  std::map<int64_t, std::string> inputs;
  std::map<int64_t, std::string> outputs;
  if (signature != nullptr) {
    info.signature = NameOf(signature->signature_key());
    inputs = SignatureNames(signature->inputs());
    outputs = SignatureNames(signature->outputs());
  }
  const schema::SubGraph& body = model.subgraph(subgraph);
  info.inputs = DeclareAll(model, subgraph, ToInts(body.inputs()), inputs, "input");
  info.outputs = DeclareAll(model, subgraph, ToInts(body.outputs()), outputs, "output");
  return info;
}

absl::StatusOr<TfliteModelInfo> DescribeModel(std::string_view bytes) {
  constexpr int64_t kMaxListed = 100;  // signatures; limits the output for a model that has too many
  ASSIGN_OR_RETURN(const Model model, Model::Open(bytes));
  TfliteModelInfo info;
  info.description = NameOf(model.root().description());
  info.num_subgraphs = model.num_subgraphs();
  info.entries.push_back(Describe(model, 0, nullptr));
  const auto* signatures = model.root().signature_defs();
  for (int64_t i = 0; i < std::min(SizeOf(signatures), kMaxListed); ++i) {
    const schema::SignatureDef* signature = signatures->Get(static_cast<uint32_t>(i));
    info.entries.push_back(Describe(model, static_cast<int>(signature->subgraph_index()), signature));
  }
  return info;
}

}  // namespace

bool LooksLikeTflite(std::string_view head) { return head.size() >= 8 && head.substr(4, 4) == "TFL3"; }

absl::StatusOr<TfliteModelInfo> ReadTfliteInfo(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxFileBytes));
  absl::StatusOr<TfliteModelInfo> info = DescribeModel(bytes);
  if (!info.ok()) return Annotate(info.status(), path);
  return info;
}

absl::StatusOr<std::unique_ptr<Graph>> ImportTflite(const std::string& path,
                                                    const TfliteImportOptions& options) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxFileBytes));
  absl::StatusOr<std::unique_ptr<Graph>> graph = ImportTfliteBytes(bytes, options);
  // The lines of an NS list are complete without the path.
  if (absl::IsUnimplemented(graph.status())) return graph.status();
  if (!graph.ok()) return Annotate(graph.status(), path);
  return graph;
}

absl::StatusOr<std::unique_ptr<Graph>> ImportTfliteBytes(std::string_view bytes,
                                                         const TfliteImportOptions& options) {
  // Tables are read in place and are aligned within the file, so the file must be aligned in memory.
  std::string aligned;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(std::max_align_t) != 0) bytes = aligned = bytes;
  ASSIGN_OR_RETURN(const Model model, Model::Open(bytes));
  return Importer(&model, options).Run();
}

}  // namespace attune
