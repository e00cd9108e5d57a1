#include "api/model_files.h"

#include "base/status.h"
#include "import/import.h"
#include "import/onnx/import.h"

namespace attune {

absl::StatusOr<std::vector<std::string>> FilesBesideModel(const std::string& path) {
  ASSIGN_OR_RETURN(const ModelFormat format, FormatOf(path));
  if (format != ModelFormat::kOnnx) return std::vector<std::string>();
  return ReadOnnxExternalFiles(path);
}

}  // namespace attune
