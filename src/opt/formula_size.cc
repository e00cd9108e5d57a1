#include "opt/formula_size.h"

#include <algorithm>

#include "graph/node_rules.h"

namespace attune {
namespace {

// How often the formula of an operator has each of its operands, at most.
double ReadsOf(const Node& node) {
  switch (node.op()) {
    case Op::kSign:
    case Op::kLeakyRelu:
    case Op::kElu:
    case Op::kSoftplus:
    case Op::kGelu:
    case Op::kHardSwish:
    case Op::kIsInf:
    case Op::kMod:
    case Op::kQuantize:
    case Op::kRequantize:
      return 4;
    case Op::kReshape:  // each index of the operand is made of all indices of the result
      return std::max(1, node.input(0)->type().rank());
    default:
      return 1;
  }
}

}  // namespace

double FormulaSizes::Of(const Node& node) {
  if (const auto known = sizes_.find(&node); known != sizes_.end()) return known->second;
  double size = 1;
  for (const Value* input : node.inputs()) {
    if (input != nullptr) size += ReadsOf(node) * Of(*input);
  }
  return sizes_[&node] = size;
}

double FormulaSizes::Of(const Value& value) {
  const Node* producer = value.producer();
  if (producer == nullptr || !inside_(*producer)) return 1;
  const bool is_movement = GetOpInfo(producer->op()).category == OpCategory::kMovement;
  return IsPointwise(*producer) || is_movement ? Of(*producer) : 1;
}

}  // namespace attune
