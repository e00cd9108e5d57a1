#include "io/raw.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/status.h"

namespace attune {

static_assert(std::endian::native == std::endian::little, "raw files are little endian");

absl::StatusOr<Tensor> ParseRaw(std::string_view bytes, DType dtype, const Shape& shape,
                                std::string_view name) {
  const std::optional<int64_t> count = CheckedProduct(shape);
  const std::optional<int64_t> size = count ? CheckedMul(*count, DTypeSize(dtype)) : std::nullopt;
  if (!size || static_cast<uint64_t>(*size) != bytes.size()) {
    return InvalidInput(name, ": has ", bytes.size(), " bytes, but ", DTypeName(dtype), " [",
                        absl::StrJoin(shape, ","), "] takes ", size ? absl::StrCat(*size) : "too many");
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  if (!bytes.empty()) std::memcpy(tensor.mutable_data(), bytes.data(), bytes.size());
  if (dtype == DType::kBool) {
    for (uint8_t& value : tensor.as_mutable<uint8_t>()) value = value != 0;
  }
  return tensor;
}

}  // namespace attune
