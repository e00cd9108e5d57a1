#include "import/common/input_shapes.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"

namespace attune::importing {

std::optional<Shape> GivenShape(const std::string& name, const ImportOptions& options) {
  if (const auto it = options.input_shapes.find(name); it != options.input_shapes.end()) return it->second;
  if (const auto it = options.input_values.find(name); it != options.input_values.end())
    return it->second.shape();
  return std::nullopt;
}

std::string ShapeText(const DeclaredTensor& tensor) {
  return tensor.ranked ? absl::StrCat("[", absl::StrJoin(tensor.dims, ","), "]") : "of any shape";
}

void OpenInputs::Add(const DeclaredTensor& input) {
  inputs_.push_back(absl::StrCat("'", input.name, "' ", ShapeText(input)));
  examples_.push_back(Example(input));
}

absl::Status OpenInputs::status() const {
  if (inputs_.empty()) return absl::OkStatus();
  return InvalidInput("the ", what_, " leaves dimensions open: input ", absl::StrJoin(inputs_, ", "),
                      "; give the shapes, for example ", absl::StrJoin(examples_, " "));
}

// "--shape x=1x3x224x224"
std::string OpenInputs::Example(const DeclaredTensor& input) const {
  constexpr size_t kImageRank = 4;
  const size_t channels = channels_last_ ? kImageRank - 1 : 1;
  std::vector<std::string> dims = input.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t number = 0;
    if (absl::SimpleAtoi(dims[i], &number)) continue;
    dims[i] = dims.size() == kImageRank && i != 0 && i != channels ? "224" : "1";
  }
  if (!input.ranked) {
    dims.assign(kImageRank, "224");
    dims[0] = "1";
    dims[channels] = "3";
  }
  return absl::StrCat("--shape ", input.name, "=", absl::StrJoin(dims, "x"));
}

}  // namespace attune::importing
