#include "import/common/shape_notices.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/log.h"
#include "import/common/failure.h"
#include "import/common/names.h"

namespace attune::importing {
namespace {

bool Fits(const TensorType& computed, const Shape& declared) {
  if (computed.dims.size() != declared.size()) return false;
  for (size_t i = 0; i < declared.size(); ++i) {
    const Dim& dim = computed.dims[i];
    if (declared[i] >= 0 && dim.is_constant() && dim.size != declared[i]) return false;
  }
  return true;
}

// "[1,3,?]"
std::string Text(const Shape& shape) {
  const auto append = [](std::string* out, int64_t size) {
    absl::StrAppend(out, size < 0 ? "?" : absl::StrCat(size));
  };
  return absl::StrCat("[", absl::StrJoin(shape, ",", append), "]");
}

std::string Text(const TensorType& type) {
  Shape shape;
  for (const Dim& dim : type.dims) shape.push_back(dim.is_constant() ? dim.size : -1);
  return Text(shape);
}

}  // namespace

void ShapeNotices::Compare(std::string_view tensor, const TensorType& computed, const Shape& declared) {
  if (Fits(computed, declared)) return;
  const std::string name = ScopedName("", tensor);
  if (contradicted_.empty()) first_contradicted_ = {name, Text(computed), Text(declared)};
  contradicted_.insert(name);
}

void ShapeNotices::AddScaled(std::string_view node, int64_t size, float scale, int64_t becomes,
                             int64_t by_onnx) {
  const std::string name = ScopedName("", node);
  if (scaled_.empty()) first_scaled_ = {name, size, becomes, by_onnx, scale};
  scaled_.insert(name);
}

void ShapeNotices::Log() const {
  if (!scaled_.empty()) {
    attune::Log(LogLevel::kWarning, "a size is rounded as runtimes round it, not as ONNX says", "node",
                first_scaled_.node, "size", first_scaled_.size, "scale", first_scaled_.scale, "becomes",
                first_scaled_.becomes, "by_onnx", first_scaled_.by_onnx, "others", scaled_.size() - 1);
  }
  if (!contradicted_.empty()) {
    attune::Log(LogLevel::kWarning, "a tensor has another shape than the model declares", "tensor",
                first_contradicted_.tensor, "shape", first_contradicted_.computed, "declared",
                first_contradicted_.declared, "others", contradicted_.size() - 1);
  }
}

absl::StatusOr<std::unique_ptr<Graph>> ShapeNotices::LogAfter(
    const std::function<std::unique_ptr<Graph>()>& import) const {
  absl::StatusOr<std::unique_ptr<Graph>> graph;
  try {
    graph = import();
  } catch (const ImportFailure& failure) {
    graph = failure.status;
  }
  if (graph.ok() || absl::IsInvalidArgument(graph.status())) Log();
  return graph;
}

}  // namespace attune::importing
