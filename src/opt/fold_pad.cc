#include <cmath>
#include <limits>
#include <optional>

#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// Whether the value is never negative, so that a padded zero never changes a maximum.
bool IsNonNegative(const Value* value) {
  const Node* node = value->producer();
  if (node == nullptr) return false;
  switch (node->op()) {
    case Op::kRelu:
    case Op::kSigmoid:
    case Op::kHardSigmoid:
    case Op::kAbs:
    case Op::kSoftmax:
      return true;
    case Op::kClip:
      return node->attrs().Has("min") && node->attrs().Number("min").ToDouble() >= 0;
    default:
      return false;
  }
}

double LowestOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return std::numeric_limits<float>::lowest();
    case DType::kF16:
      return -65504;
    default:
      return -std::numeric_limits<double>::infinity();
  }
}

// Whether the operator's own padding gives what `value` around its input gives.
bool PadsWith(const Node& node, const ExactNumber& number) {
  const double value = number.ToDouble();
  switch (node.op()) {
    case Op::kConv:
      return value == 0;
    case Op::kConvInteger: {  // it pads with the zero point, as a zero
      const Value* zero = node.input(2);
      return zero == nullptr ? value == 0
                             : zero->constant() != nullptr && zero->constant()->num_elements() == 1 &&
                                   zero->constant()->ToNumber(0) == number;
    }
    case Op::kMaxPool:
      if (node.num_outputs() != 1) return false;  // positions count within the padded input
      return value <= LowestOf(node.output()->type().dtype) ||
             (value == 0 && IsNonNegative(node.input(0)->producer()->input(0)) &&
              AllAre(node.attrs().IntList("dilations", {}), 1));  // so that each window has a true element
    case Op::kAvgPool:  // padding counts as elements, or there is no padding yet and the new one will count
      return value == 0 &&
             (node.attrs().Bool("count_include_pad") || AllAre(node.attrs().IntList("pads", {}), 0));
    default:
      return false;
  }
}

// The spatial part of a pad's `pads`, or nothing where it pads batch or channels.
std::optional<Ints> SpatialPads(const Node& pad) {
  const Ints& pads = pad.attrs().IntList("pads");
  const size_t rank = pads.size() / 2;
  if (rank < 3 || pads[0] != 0 || pads[1] != 0 || pads[rank] != 0 || pads[rank + 1] != 0) return std::nullopt;
  Ints spatial(pads.begin() + 2, pads.begin() + static_cast<std::ptrdiff_t>(rank));
  spatial.insert(spatial.end(), pads.begin() + static_cast<std::ptrdiff_t>(rank) + 2, pads.end());
  return spatial;
}

Value* FoldInto(Graph& graph, Node* node) {
  const Node* pad = node->num_inputs() == 0 ? nullptr : ProducerOf(node->input(0), Op::kPad);
  if (pad == nullptr || pad->attrs().String("mode", "constant") != "constant" ||
      !PadsWith(*node, pad->attrs().Number("value", 0))) {
    return nullptr;
  }
  const std::optional<Ints> spatial = SpatialPads(*pad);
  // With ceil_mode, windows that start in the padding at the end are dropped, and folding changes that
  // padding.
  if (!spatial || node->attrs().Bool("ceil_mode")) return nullptr;
  Ints pads = node->attrs().IntList("pads", Ints(spatial->size(), 0));
  for (size_t i = 0; i < pads.size(); ++i) pads[i] += (*spatial)[i];
  Attributes attributes = node->attrs();
  attributes.Set("pads", pads);
  if (node->op() == Op::kAvgPool) attributes.Set("count_include_pad", int64_t{1});
  std::vector<Value*> inputs = node->inputs();
  inputs[0] = pad->input(0);
  return AddBefore(graph, node, node->op(), std::move(inputs), std::move(attributes));
}

}  // namespace

absl::StatusOr<bool> FoldPadPass(Graph& graph, const PassContext&) {
  bool changed = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node* node = it++->get();
    Value* folded = FoldInto(graph, node);
    if (folded == nullptr) continue;
    if (folded->type() == node->output()->type()) {
      ReplaceNode(graph, node, folded);
      changed = true;
    } else {
      graph.Erase(folded->producer());
    }
  }
  return changed;
}

}  // namespace attune
