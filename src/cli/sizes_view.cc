#include "cli/sizes_view.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "base/dtype.h"
#include "base/printable.h"
#include "cli/common/output.h"

namespace attune {

std::string TypeText(const TensorInfo& tensor, const Program& program) {
  std::vector<std::string> dims;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (!tensor.open_shape.empty() && tensor.open_shape[d] >= 0) {
      const SizeCode& code = program.numbers[static_cast<size_t>(tensor.open_shape[d])];
      const bool is_size = code.size() == 1 && code[0].op == SizeOpcode::kSize;
      dims.push_back(is_size ? WithoutControls(program.sizes[static_cast<size_t>(code[0].value)].name) : "?");
    } else {
      dims.push_back(absl::StrCat(tensor.dim_slots[d] < 0 ? "" : "<=", tensor.shape[d]));
    }
  }
  return absl::StrCat(DTypeName(static_cast<DType>(tensor.dtype)), "[", absl::StrJoin(dims, ","), "]");
}

std::string SessionMemory(const Variant& variant) {
  const Program& first = variant.programs.front();
  if (first.sizes.empty()) return FormatBytes(first.arena_bytes) + " a session";
  const Program& widest = variant.programs.back();
  std::vector<std::string> sizes;
  for (const OpenSize& size : widest.sizes)
    sizes.push_back(absl::StrCat(WithoutControls(size.name), " (", size.min, " to ", size.max, ")"));
  return absl::StrCat("as ", absl::StrJoin(sizes, ", "), sizes.size() == 1 ? " needs" : " need");
}

}  // namespace attune
