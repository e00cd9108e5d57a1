#include "import/import.h"

#include <filesystem>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/input_file.h"
#include "base/log_scope.h"
#include "base/status.h"
#include "import/onnx/import.h"
#include "import/pytorch/import.h"
#include "import/tensorflow/import.h"
#include "import/tflite/import.h"

namespace attune {
namespace {

constexpr int64_t kHead = 64;  // bytes needed to identify the format

bool IsKerasName(const std::string& path) { return std::filesystem::path(path).extension() == ".keras"; }

absl::StatusOr<std::unique_ptr<Graph>> ImportAs(ModelFormat format, const std::string& path,
                                                const ImportOptions& options) {
  switch (format) {
    case ModelFormat::kTflite:
      return ImportTflite(path, {options});
    case ModelFormat::kTensorflow:
      return ImportTensorflow(path, {options});
    case ModelFormat::kPytorch:
      return ImportPytorch(path, options);
    case ModelFormat::kOnnx:
      break;
  }
  return ImportOnnx(path, options);
}

}  // namespace

absl::StatusOr<ModelFormat> FormatOf(const std::string& path) {
  if (IsSavedModelFolder(path)) return ModelFormat::kTensorflow;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return InvalidInput(path, ": is a folder without saved_model.pb; give a model file or a SavedModel");
  ASSIGN_OR_RETURN(const std::string head, ReadFileHead(path, kHead));
  if (LooksLikeTflite(head)) return ModelFormat::kTflite;
  // Current Keras files are zip archives, like PyTorch's.
  if (LooksLikePytorch(head) && !IsKerasName(path)) return ModelFormat::kPytorch;
  RETURN_IF_ERROR(CheckNotKeras(head));
  return LooksLikeTensorflow(head) ? ModelFormat::kTensorflow : ModelFormat::kOnnx;
}

std::string MainFile(const std::string& path) {
  return IsSavedModelFolder(path) ? (std::filesystem::path(path) / "saved_model.pb").string() : path;
}

absl::StatusOr<std::vector<DeclaredTensor>> ReadModelInputs(const std::string& path,
                                                            const ImportOptions& options) {
  ASSIGN_OR_RETURN(const ModelFormat format, FormatOf(path));
  switch (format) {
    case ModelFormat::kTflite: {
      ASSIGN_OR_RETURN(TfliteModelInfo info, ReadTfliteInfo(path));
      for (TfliteEntryInfo& entry : info.entries) {
        if (entry.signature == options.signature) return std::move(entry.inputs);
      }
      return absl::NotFoundError(absl::StrCat(path, ": there is no signature \"", options.signature, "\""));
    }
    case ModelFormat::kTensorflow: {
      ASSIGN_OR_RETURN(TensorflowModelInfo info, ReadTensorflowInfo(path, {options}));
      return std::move(info.inputs);
    }
    case ModelFormat::kPytorch: {
      ASSIGN_OR_RETURN(PytorchModelInfo info, ReadPytorchInfo(path));
      return std::move(info.inputs);
    }
    case ModelFormat::kOnnx:
      break;
  }
  ASSIGN_OR_RETURN(OnnxModelInfo info, ReadOnnxInfo(path));
  return std::move(info.inputs);
}

absl::StatusOr<std::unique_ptr<Graph>> ImportModel(const std::string& path, const ImportOptions& options) {
  ASSIGN_OR_RETURN(const ModelFormat format, FormatOf(path));
  const bool has_signatures = format == ModelFormat::kTflite || format == ModelFormat::kTensorflow;
  if (!options.signature.empty() && !has_signatures)
    return InvalidInput(path, ": there is no signature \"", options.signature,
                        "\": files of this format have none");
  const LogScope scope("model", path);
  absl::StatusOr<std::unique_ptr<Graph>> graph = ImportAs(format, path, options);
  if (!graph.ok() && options.control.is_cancelled())
    return absl::CancelledError(absl::StrCat(path, ": importing was cancelled"));
  return graph;
}

}  // namespace attune
