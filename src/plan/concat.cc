#include "plan/concat.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "artifact/artifact.h"
#include "plan/group_merge.h"

namespace attune {
namespace {

// The only node of a group apart from constants, or null.
const Node* OnlyNode(const Graph& region) {
  const Node* only = nullptr;
  for (const auto& node : region.nodes()) {
    if (node->op() == Op::kConstant) continue;
    if (only != nullptr) return nullptr;
    only = node.get();
  }
  return only;
}

// The operands of a concatenation, the only node of a group, as values of the graph around the group. An
// operand that is read twice is one input of the group and appears twice here. Null stands for a constant
// inside of the group.
std::vector<const Value*> Operands(const Node& fused, const Node& concat) {
  std::vector<const Value*> operands;
  for (const Value* operand : concat.inputs()) {
    const int input = InputIndex(fused.region(), operand);
    operands.push_back(input < 0 ? nullptr : fused.input(input));
  }
  return operands;
}

// Whether the inputs of a concatenation can lie one behind the other in its output, each at an offset where
// a separate tensor could begin.
bool IsContiguous(const Node& concat) {
  const TensorType& out = concat.output()->type();
  const int64_t axis = concat.attrs().Int("axis");
  for (int64_t d = 0; d < axis; ++d) {
    if (out.dims[static_cast<size_t>(d)] != Dim(1)) return false;
  }
  if (!out.is_static() || (!out.layout.is_plain() && out.layout.blocked_axis != axis)) return false;
  for (int i = 0; i < concat.num_inputs(); ++i) {
    const TensorType& in = concat.input(i)->type();
    if (in.layout != out.layout) return false;
    const bool last = i + 1 == concat.num_inputs();
    // A block that a feature map does not fill ends in elements that do not belong to the next feature map.
    const bool fills =
        out.layout.is_plain() || in.dims[static_cast<size_t>(axis)].size % out.layout.block == 0;
    const bool aligned = in.num_physical_bytes() % static_cast<int64_t>(kTensorAlignment) == 0;
    if (!last && !(fills && aligned)) return false;
  }
  return true;
}

// Where a value lies: as `parts` say, or in memory of its own.
Within PlaceOf(const Value* value, const Parts& parts) {
  const auto it = parts.find(value);
  return it == parts.end() ? Within{value, 0} : it->second;
}

// Whether the operands of a concatenation lie one behind the other from `next` on.
bool LieAt(const std::vector<const Value*>& operands, Within next, const Parts& parts) {
  for (const Value* operand : operands) {
    if (operand == nullptr) return false;
    const Within place = PlaceOf(operand, parts);
    if (place.whole != next.whole || place.offset != next.offset) return false;
    next.offset += operand->type().num_physical_bytes();
  }
  return true;
}

class Placement {
 public:
  explicit Placement(const Graph& graph) {
    for (const Graph::Output& output : graph.outputs()) exposed_.insert(output.value);
    // Later concatenations first: they hold the earlier ones.
    for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
      if ((*it)->op() != Op::kFused) continue;
      const Node* only = OnlyNode((*it)->region());
      if (only != nullptr && only->op() == Op::kConcat && IsContiguous(*only))
        Place(**it, Operands(**it, *only));
    }
  }

  Parts Take() { return std::move(parts_); }

 private:
  void Place(const Node& concat, const std::vector<const Value*>& operands) {
    const auto first = parts_.find(operands[0]);
    if (first != parts_.end() && LieAt(operands, first->second, parts_)) {
      const Within found = first->second;
      if (CanBePlaced(concat.output())) parts_[concat.output()] = found;
      return;
    }
    std::set<const Value*> placed;
    for (const Value* operand : operands) {
      if (operand == nullptr || !CanBePlaced(operand) || !placed.insert(operand).second) return;
    }
    Within part = PlaceOf(concat.output(), parts_);
    for (const Value* operand : operands) {
      parts_[operand] = part;
      part.offset += operand->type().num_physical_bytes();
    }
  }

  // Whether a kernel writes the value, and the value is not placed yet.
  bool CanBePlaced(const Value* value) const {
    const Node* producer = value->producer();
    return producer != nullptr && producer->op() == Op::kFused && !IsView(*producer) &&
           IndexCheckOf(*producer) == nullptr && !parts_.contains(value) && !exposed_.contains(value);
  }

  std::set<const Value*> exposed_;  // outputs of the graph, which lie in memory of their own
  Parts parts_;
};

}  // namespace

bool IsView(const Node& fused) {
  const Node* only = OnlyNode(fused.region());
  if (only == nullptr || (only->op() != Op::kReshape && only->op() != Op::kIdentity)) return false;
  const TensorType &in = only->input(0)->type(), &out = only->output()->type();
  // The output has no blocked axis to compare if the layouts differ.
  if (in.layout != out.layout || !only->input(0)->is_input()) return false;
  // Blocks stay where they are if the dimensions up to the blocked axis stay the same.
  return in.layout.is_plain() || only->op() == Op::kIdentity ||
         std::equal(in.dims.begin(), in.dims.begin() + in.layout.blocked_axis + 1, out.dims.begin());
}

const Node* IndexCheckOf(const Node& fused) {
  const Node* only = OnlyNode(fused.region());
  return only != nullptr && only->op() == Op::kCheckIndex ? only : nullptr;
}

Parts PlaceConcatParts(const Graph& graph) { return Placement(graph).Take(); }

bool IsConcatInPlace(const Node& fused, const Parts& parts) {
  const Node* only = OnlyNode(fused.region());
  return only != nullptr && only->op() == Op::kConcat &&
         LieAt(Operands(fused, *only), PlaceOf(fused.output(), parts), parts);
}

}  // namespace attune
