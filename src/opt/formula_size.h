// How large the formula of a kernel becomes.
#ifndef ATTUNE_OPT_FORMULA_SIZE_H_
#define ATTUNE_OPT_FORMULA_SIZE_H_

#include <functional>
#include <unordered_map>
#include <utility>

#include "graph/graph.h"

namespace attune {

// Problem: a kernel computes what it can as one formula for each element, in which a value is written once
// for each time that it is read. With v = v · v, again and again, every step doubles the formula: after 20
// steps it has a million operations, and so it has after as many reshapes, whose indices are made of each
// other. Idea: count the size of a formula before it is written. Cost: linear in the nodes that are asked
// for and in those of their formulas.
class FormulaSizes {
 public:
  // `inside` says which nodes are computed in the kernel, and must not change its answers. Pointwise
  // operators and data movement inside are parts of formulas; the results of other nodes are read.
  explicit FormulaSizes(std::function<bool(const Node&)> inside) : inside_(std::move(inside)) {}

  // The size of the formula that computes a node in the kernel, in operations and operands.
  double Of(const Node& node);

 private:
  double Of(const Value& value);

  std::function<bool(const Node&)> inside_;
  std::unordered_map<const Node*, double> sizes_;
};

// Larger formulas are divided among several kernels: thousands of operations, which no network asks for,
// take seconds to compile.
inline constexpr double kMaxFormulaSize = 4096;

}  // namespace attune

#endif  // ATTUNE_OPT_FORMULA_SIZE_H_
