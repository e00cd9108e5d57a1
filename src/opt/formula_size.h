// How large the formula of a kernel becomes.
#ifndef ATTUNE_OPT_FORMULA_SIZE_H_
#define ATTUNE_OPT_FORMULA_SIZE_H_

#include <functional>
#include <unordered_map>
#include <utility>

#include "graph/graph.h"

namespace attune {

// Problem: a kernel computes what it can as one formula for each element, in which a value is written once
// for each time that it is read. With v = v · v, again and again, every step doubles it: 20 of them are a
// million operations, and so are as many reshapes, whose indices are made of each other. Idea: count what a
// formula has before it is written. Cost: linear in the nodes that are asked for and computed with them.
class FormulaSizes {
 public:
  // `inside` says which nodes are computed in the kernel, and must not change its mind. Pointwise operators
  // and data movement among them are parts of formulas, the results of others are read.
  explicit FormulaSizes(std::function<bool(const Node&)> inside) : inside_(std::move(inside)) {}

  // Of the formula that computes a node in the kernel, in operations and operands.
  double Of(const Node& node);

 private:
  double Of(const Value& value);

  std::function<bool(const Node&)> inside_;
  std::unordered_map<const Node*, double> sizes_;
};

// More is written in several kernels: thousands of operations, which no network asks for, take seconds to
// compile.
inline constexpr double kMaxFormulaSize = 4096;

}  // namespace attune

#endif  // ATTUNE_OPT_FORMULA_SIZE_H_
