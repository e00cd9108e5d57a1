#include "graph/work.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/checked.h"

namespace attune {
namespace {

// The interpreter's own work for a node, whatever the node computes.
constexpr int64_t kWorkOfNode = 256;

int64_t Saturated(std::optional<int64_t> value) { return value.value_or(INT64_MAX); }

// Takes `cost` off `left`, which stays at -1 once it does not suffice.
bool Take(int64_t& left, int64_t cost) {
  left = cost > left ? -1 : left - cost;
  return left >= 0;
}

}  // namespace

int64_t WorkOf(const Node& node) {
  int64_t work = kWorkOfNode;
  for (const Value* input : node.inputs()) {
    if (input != nullptr) work = Saturated(CheckedAdd(work, input->type().num_elements()));
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    work = Saturated(CheckedAdd(work, node.output(i)->type().num_elements()));
  }
  const OpCategory category = GetOpInfo(node.op()).category;
  const bool contracts = category == OpCategory::kContraction || category == OpCategory::kWindow ||
                         category == OpCategory::kSampling || category == OpCategory::kDynamic;
  if (!contracts) return work;
  const Value* second = node.input(node.num_inputs() > 1 ? 1 : 0);
  return Saturated(CheckedMul(work, second->type().num_elements() + 1));
}

int64_t OutputBytes(const Node& node) {
  int64_t bytes = 0;
  for (int i = 0; i < node.num_outputs(); ++i) {
    const TensorType& type = node.output(i)->type();
    bytes = Saturated(CheckedAdd(bytes, type.num_elements() * DTypeSize(type.dtype)));
  }
  return bytes;
}

absl::Status WorkBudget::Spend(const Node& node) {
  if (node.op() == Op::kConstant) return absl::OkStatus();
  const bool work = Take(work_, WorkOf(node));
  const bool bytes = Take(bytes_, OutputBytes(node));
  if (work && bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("computing it takes too much work or memory (at ",
                                                   OpName(node.op()), " '", node.name(), "')"));
}

}  // namespace attune
