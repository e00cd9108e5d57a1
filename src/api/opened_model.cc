#include "api/opened_model.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/name_errors.h"
#include "artifact/format.h"
#include "base/input_file.h"
#include "base/status.h"
#include "reference/interpreter.h"
#include "zoo/zoo.h"

namespace attune {
namespace {

bool BeginsLikeArtifact(std::string_view bytes) {
  return bytes.size() >= format::kMagic.size() &&
         std::memcmp(bytes.data(), format::kMagic.data(), format::kMagic.size()) == 0;
}

absl::StatusOr<bool> IsArtifact(const InputFile& file) {
  std::string head(std::min(format::kMagic.size(), static_cast<size_t>(file.bytes)), '\0');
  RETURN_IF_ERROR(ReadRange(file, 0, static_cast<int64_t>(head.size()), head.data()));
  return BeginsLikeArtifact(head);
}

InputDeclaration Describe(const DeclaredTensor& declared) {
  InputDeclaration declaration;
  declaration.name = declared.name;
  declaration.dtype = ParseDType(declared.dtype);
  declaration.dtype_name = declared.dtype;
  declaration.dims = declared.dims;
  declaration.ranked = declared.ranked;
  declaration.picture = declared.picture;
  for (const std::string& dim : declared.dims) {
    int64_t size = 0;
    declaration.shape.push_back(absl::SimpleAtoi(dim, &size) ? size : -1);
  }
  return declaration;
}

// Opens the dimensions that differ in `other`, the same input at another set of shapes.
void OpenDifferences(const InputDeclaration& other, InputDeclaration& declaration) {
  if (other.shape.size() != declaration.shape.size()) {
    declaration = {declaration.name, declaration.dtype, declaration.dtype_name, {}, {}, /*ranked=*/false};
  }
  for (size_t d = 0; d < declaration.shape.size(); ++d) {
    if (declaration.shape[d] == other.shape[d]) continue;
    declaration.shape[d] = -1;
    declaration.dims[d] = "?";
  }
}

// Returns an artifact's inputs or outputs, open where its sets of input shapes differ.
std::vector<InputDeclaration> OverAllSets(const CompiledModel& artifact,
                                          std::vector<InputDeclaration> (CompiledModel::*get)() const) {
  std::vector<InputDeclaration> found = (artifact.*get)();
  for (const std::shared_ptr<const CompiledModel>& set : artifact.ShapeSets()) {
    const std::vector<InputDeclaration> others = (*set.*get)();
    for (size_t i = 0; i < found.size(); ++i) OpenDifferences(others[i], found[i]);
  }
  return found;
}

}  // namespace

std::vector<std::string> ZooNames() {
  std::vector<std::string> names;
  for (const ZooEntry& entry : ZooNetworks()) names.push_back(entry.name);
  return names;
}

absl::StatusOr<OpenedModel> OpenedModel::Open(const std::string& path, const OpenOptions& options) {
  ASSIGN_OR_RETURN(const InputFile opened, OpenModelFile(path));
  const absl::StatusOr<bool> is_artifact = IsArtifact(opened);
  if (!is_artifact.ok()) return Annotate(is_artifact.status(), path);
  if (*is_artifact) return OpenedModel(path, options, std::nullopt);
  if (!options.artifact.sha256.empty())
    return InvalidInput(path,
                        ": is a model and not an artifact, whose SHA-256 could be checked; leave that out");
  absl::StatusOr<ModelReader> reader = ModelReader::Read(opened, path);
  if (!reader.ok()) return Name(reader.status(), path);
  return OpenedModel(path, options, *std::move(reader));
}

absl::StatusOr<OpenedModel> OpenedModel::FromBytes(std::string bytes, const std::string& name) {
  if (BeginsLikeArtifact(bytes)) {
    OpenedModel model(name, {}, std::nullopt);
    absl::StatusOr<std::shared_ptr<const CompiledModel>> artifact = CompiledModel::FromBytes(bytes);
    if (!artifact.ok()) return Name(artifact.status(), name);
    model.artifact_ = *std::move(artifact);
    return model;
  }
  absl::StatusOr<ModelReader> reader = ModelReader::FromBytes(std::move(bytes), name);
  if (!reader.ok()) return Name(reader.status(), name);
  return OpenedModel(name, {}, *std::move(reader));
}

absl::StatusOr<OpenedModel> OpenedModel::FromZoo(const std::string& name) {
  ASSIGN_OR_RETURN(std::string bytes, BuildZooModel(name));
  return FromBytes(std::move(bytes), name + ".onnx");
}

absl::Status OpenedModel::CheckIsModel() const {
  if (!is_artifact()) return absl::OkStatus();
  return InvalidInput(path_, ": is compiled already; give the model that it was made from");
}

absl::StatusOr<std::shared_ptr<const CompiledModel>> OpenedModel::Artifact() {
  if (artifact_ != nullptr) return artifact_;
  absl::StatusOr<std::shared_ptr<const CompiledModel>> loaded =
      CompiledModel::LoadFile(path_, options_.artifact);
  if (loaded.ok()) artifact_ = *loaded;
  return loaded;
}

absl::StatusOr<ModelDeclaration> OpenedModel::Declare() {
  ModelDeclaration declaration;
  if (is_artifact()) {
    ASSIGN_OR_RETURN(const std::shared_ptr<const CompiledModel> artifact, Artifact());
    declaration.inputs = artifact->Inputs();
    declaration.outputs = OverAllSets(*artifact, &CompiledModel::Outputs);
    return declaration;
  }
  absl::StatusOr<DeclaredModel> declared = reader_->Declare(options_.signature);
  if (!declared.ok()) return Name(declared.status(), path_);
  for (const DeclaredTensor& input : declared->inputs) declaration.inputs.push_back(Describe(input));
  for (const DeclaredTensor& output : declared->outputs) declaration.outputs.push_back(Describe(output));
  declaration.about = std::move(declared->about);
  declaration.metadata = std::move(declared->metadata);
  return declaration;
}

absl::StatusOr<std::vector<InputDeclaration>> OpenedModel::Inputs() {
  ASSIGN_OR_RETURN(ModelDeclaration declaration, Declare());
  if (artifact_ == nullptr) return std::move(declaration.inputs);
  return OverAllSets(*artifact_, &CompiledModel::Inputs);
}

absl::StatusOr<std::vector<std::string>> OpenedModel::FilesBeside() const {
  RETURN_IF_ERROR(CheckIsModel());
  return reader_->FilesBeside();
}

absl::Status OpenedModel::CheckOperators() {
  if (is_artifact()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const ModelDeclaration declaration, Declare());
  const bool is_open = std::ranges::any_of(declaration.inputs, [](const InputDeclaration& input) {
    return !input.ranked || std::ranges::find(input.shape, -1) != input.shape.end();
  });
  if (!is_open) return absl::OkStatus();
  // Importers list what they lack before they ask for shapes.
  const absl::Status imported = Import({}).status();
  return absl::IsUnimplemented(imported) ? Name(imported, path_) : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Graph>> OpenedModel::Import(const InputOptions& options) {
  RETURN_IF_ERROR(CheckIsModel());
  const Interpreter interpreter;
  return reader_->Import({.input_shapes = options.shapes,
                          .input_values = options.values,
                          .executor = &interpreter,
                          .signature = options_.signature,
                          .control = options.control});
}

}  // namespace attune
