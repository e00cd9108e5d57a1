#include "graph/type.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "graph/names.h"

namespace attune {
namespace {

int64_t Product(const Shape& shape) {
  int64_t product = 1;
  for (int64_t d : shape) product *= d;
  return product;
}

}  // namespace

bool TensorType::is_static() const {
  return std::ranges::all_of(dims, [](const Dim& d) { return d.is_constant(); });
}

Shape TensorType::shape() const {
  Shape shape;
  shape.reserve(dims.size());
  for (const Dim& d : dims) shape.push_back(d.size);
  return shape;
}

Shape TensorType::physical_shape() const {
  Shape physical = shape();
  if (layout.is_plain()) return physical;
  int64_t& axis = physical[static_cast<size_t>(layout.blocked_axis)];
  axis = CeilDiv(axis, layout.block);
  physical.push_back(layout.block);
  return physical;
}

int64_t TensorType::num_elements() const { return Product(shape()); }

int64_t TensorType::num_physical_elements() const { return Product(physical_shape()); }
int64_t TensorType::num_physical_bytes() const { return num_physical_elements() * DTypeSize(dtype); }

std::string ToString(const TensorType& type) {
  std::string text = absl::StrCat(DTypeName(type.dtype), "[");
  const char* separator = "";
  for (const Dim& d : type.dims) {
    absl::StrAppend(&text, separator);
    if (!d.is_constant()) absl::StrAppend(&text, QuoteUnlessIdentifier(d.symbol), "<=");
    absl::StrAppend(&text, d.size);
    separator = ",";
  }
  absl::StrAppend(&text, "]");
  if (!type.layout.is_plain()) {
    absl::StrAppend(&text, "{c", type.layout.blocked_axis, "/", type.layout.block, "}");
  }
  return text;
}

}  // namespace attune
