#include "graph/infer.h"

#include <algorithm>

#include "base/checked.h"
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 40;
constexpr int kMaxRank = 64;

// By operator.
constexpr infer::InferenceRule* kRules[] = {
#define OP(enumerator, name, min_inputs, max_inputs, outputs, category, rule, ...) infer::rule,
#include "graph/op_table.inc"
#undef OP
};

absl::StatusOr<std::vector<TensorType>> InferChecked(const Node& node) {
  for (const Value* input : node.inputs()) {
    if (input != nullptr) RETURN_IF_ERROR(CheckType(input->type()));
  }
  ASSIGN_OR_RETURN(std::vector<TensorType> types, kRules[static_cast<size_t>(node.op())](node));
  for (const TensorType& type : types) RETURN_IF_ERROR(CheckType(type));
  return types;
}

}  // namespace

absl::Status CheckType(const TensorType& type) {
  if (type.rank() > kMaxRank) {
    return InvalidInput("a tensor has ", type.rank(), " dimensions, at most ", kMaxRank, " are possible");
  }
  const Layout& layout = type.layout;
  if (!layout.is_plain() && (layout.blocked_axis >= type.rank() || layout.block < 2)) {
    return InvalidInput("a tensor of ", type.rank(), " dimensions cannot be blocked by ", layout.block,
                        " along axis ", layout.blocked_axis);
  }
  int64_t bytes = DTypeSize(type.dtype);
  for (int i = 0; i < type.rank(); ++i) {
    int64_t size = type.dims[static_cast<size_t>(i)].size;
    if (size < 0) return InvalidInput("a dimension of ", ToString(type), " is negative");
    if (i == layout.blocked_axis && size <= kMaxBytes) size = RoundUp(size, layout.block);
    // A dimension of 0 empties the tensor, but does not excuse the others.
    const auto product = CheckedMul(bytes, std::max<int64_t>(size, 1));
    if (!product || *product > kMaxBytes) return InvalidInput(ToString(type), " is larger than 2^40 bytes");
    bytes = *product;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorType>> InferTypes(const Node& node) {
  absl::StatusOr<std::vector<TensorType>> types = InferChecked(node);
  if (!types.ok()) return Annotate(types.status(), OpName(node.op()));
  return types;
}

absl::StatusOr<std::vector<Dim>> BroadcastDims(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const std::vector<Dim>& longer = a.size() < b.size() ? b : a;
  const std::vector<Dim>& shorter = a.size() < b.size() ? a : b;
  const size_t shift = longer.size() - shorter.size();
  std::vector<Dim> result = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    const Dim& dim = longer[i + shift];
    const Dim& other = shorter[i];
    if (dim == other || other == Dim(1)) continue;
    if (dim != Dim(1)) {
      const std::string both = absl::StrCat(infer::ToString(a), " and ", infer::ToString(b));
      if (dim.is_constant() && other.is_constant()) return InvalidInput("cannot broadcast ", both);
      return NotSupported("whether ", both, " fit depends on data");
    }
    result[i + shift] = other;
  }
  return result;
}

}  // namespace attune
