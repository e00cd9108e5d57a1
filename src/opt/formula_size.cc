#include "opt/formula_size.h"

#include <algorithm>

#include "graph/node_rules.h"

namespace attune {
namespace {

// How often the formula of an operator reads each of its operands, at most.
double ReadsOf(const Node& node) {
  // Each index of a reshape's operand is made of all indices of the result.
  return node.op() == Op::kReshape ? std::max(1, node.input(0)->type().rank()) : GetOpInfo(node.op()).reads;
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
