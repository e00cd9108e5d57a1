#include "import/import.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log_scope.h"
#include "base/status.h"
#include "import/onnx/import.h"
#include "import/pytorch/import.h"
#include "import/tensorflow/import.h"
#include "import/tflite/import.h"

namespace attune {
namespace {

// No format has larger files: weights that need more are in files beside the model.
constexpr int64_t kMaxFileBytes = INT32_MAX;

bool IsKerasName(const std::string& path) { return std::filesystem::path(path).extension() == ".keras"; }

// Recognizes the format of a file by its first bytes; only Keras files are told by their name.
absl::StatusOr<ModelFormat> FormatOf(std::string_view bytes, const std::string& path) {
  constexpr size_t kHead = 64;
  const std::string_view head = bytes.substr(0, kHead);
  if (LooksLikeTflite(head)) return ModelFormat::kTflite;
  // Current Keras files are zip archives, like PyTorch's.
  if (LooksLikePytorch(head) && !IsKerasName(path)) return ModelFormat::kPytorch;
  RETURN_IF_ERROR(CheckNotKeras(head));
  return LooksLikeTensorflow(head) ? ModelFormat::kTensorflow : ModelFormat::kOnnx;
}

absl::StatusOr<std::unique_ptr<ParsedModel>> ParseAs(ModelFormat format, std::string bytes,
                                                     const std::string& folder) {
  switch (format) {
    case ModelFormat::kTflite:
      return ParseTflite(std::move(bytes));
    case ModelFormat::kTensorflow:
      return ParseTensorflow(bytes, folder);
    case ModelFormat::kPytorch:
      return ParsePytorch(std::move(bytes));
    case ModelFormat::kOnnx:
      break;
  }
  return ParseOnnx(bytes, folder);
}

// The file whose digest identifies the model.
std::filesystem::path MainFile(const std::filesystem::path& path) {
  return IsSavedModelFolder(path.string()) ? path / "saved_model.pb" : path;
}

// The lines of what is not supported are complete without the path.
absl::Status Named(const absl::Status& status, const std::string& path) {
  return absl::IsUnimplemented(status) ? status : Annotate(status, path);
}

}  // namespace

absl::StatusOr<InputFile> OpenModelFile(const std::string& path) {
  const std::filesystem::path file = MainFile(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    return InvalidInput(path, ": is a directory without saved_model.pb; give a model file or a SavedModel");
  return OpenInputFile(file.string());
}

absl::StatusOr<ModelReader> ModelReader::Read(const InputFile& file, const std::string& path) {
  const std::filesystem::path main = MainFile(path);
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(file, main.string(), kMaxFileBytes));
  const std::string folder = main.parent_path().string();
  const absl::StatusOr<ModelFormat> format =
      main == path ? FormatOf(bytes, path) : absl::StatusOr<ModelFormat>(ModelFormat::kTensorflow);
  return Parse(std::move(bytes), format, path, folder.empty() ? "." : folder);
}

absl::StatusOr<ModelReader> ModelReader::FromBytes(std::string bytes, const std::string& name) {
  const absl::StatusOr<ModelFormat> format = FormatOf(bytes, name);
  return Parse(std::move(bytes), format, name, /*folder=*/"");
}

absl::StatusOr<ModelReader> ModelReader::Parse(std::string bytes, const absl::StatusOr<ModelFormat>& format,
                                               const std::string& path, const std::string& folder) {
  RETURN_IF_ERROR(format.status());
  std::string sha256 = Sha256Hex(bytes);
  absl::StatusOr<std::unique_ptr<ParsedModel>> model = ParseAs(*format, std::move(bytes), folder);
  if (!model.ok()) return Named(model.status(), path);
  return ModelReader(path, *format, std::move(sha256), *std::move(model));
}

absl::Status ModelReader::CheckSignature(const std::string& signature) const {
  const bool has_signatures = format_ == ModelFormat::kTflite || format_ == ModelFormat::kTensorflow;
  if (signature.empty() || has_signatures) return absl::OkStatus();
  return InvalidInput(path_, ": there is no signature \"", signature, "\": files of this format have none");
}

absl::StatusOr<DeclaredModel> ModelReader::Declare(const std::string& signature) const {
  RETURN_IF_ERROR(CheckSignature(signature));
  absl::StatusOr<DeclaredModel> declared = model_->Declare(signature);
  if (!declared.ok()) return Named(declared.status(), path_);
  return declared;
}

absl::StatusOr<std::vector<std::string>> ModelReader::FilesBeside() const {
  absl::StatusOr<std::vector<std::string>> files = model_->FilesBeside();
  if (!files.ok()) return Annotate(files.status(), path_);
  return files;
}

absl::StatusOr<std::unique_ptr<Graph>> ModelReader::Import(const ImportOptions& options) {
  RETURN_IF_ERROR(CheckSignature(options.signature));
  const LogScope scope("model", path_);
  absl::StatusOr<std::unique_ptr<Graph>> graph = model_->Import(options);
  if (!graph.ok() && options.control.is_cancelled())
    return absl::CancelledError(absl::StrCat(path_, ": importing was cancelled"));
  if (!graph.ok()) return Named(graph.status(), path_);
  return graph;
}

}  // namespace attune
