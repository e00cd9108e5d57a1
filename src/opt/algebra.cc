#include "opt/apply_rules.h"
#include "opt/passes.h"
#include "opt/rule_tables.h"

namespace attune {

std::span<const Rule> AlgebraRules() {
  static constexpr std::string_view kRules[] = {
      // Neutral elements.
      "add(x, 0) => x",
      "sub(x, 0) => x",
      "mul(x, 1) => x",
      "div(x, 1) => x",
      "pow(x, 1) => x",
      "sub(0, x) => neg(x)",
      "mul(x, -1) => neg(x) if float(x)",
      "neg(neg(x)) => x",
      "not(not(x)) => x",
      "relu(relu(x)) => relu(x)",
      "abs(abs(x)) => abs(x)",
      "abs(neg(x)) => abs(x) if float(x)",
      "add(x, neg(y)) => sub(x, y)",
      "sub(x, neg(y)) => add(x, y)",

      // One operator of each pair, so that the rules below and other passes need to know only that one.
      "sub(x, c) => add(x, neg(c)) if float(x)",
      "div(x, c) => mul(x, div(1, c)) if f32(x), invertible(c)",
      "mul(x, div(1, y)) => div(x, y) if float(x)",
      "max(x, 0) => relu(x) if signed(x)",
      "min(max(x, s1), s2) => clip{min=value(s1), max=value(s2)}(x) if f32(x)",
      "max(min(x, s2), s1) => clip{min=value(s1), max=value(s2)}(x) if f32(x), ordered(s1, s2)",

      // Constants are combined into one.
      "add(add(x, c1), c2) => add(x, add(c1, c2))",
      "mul(mul(x, c1), c2) => mul(x, mul(c1, c2))",
      "sub(c1, add(x, c2)) => sub(sub(c1, c2), x)",
      "neg(mul(x, c)) => mul(x, neg(c)) if float(x)",

      // Powers that are products.
      "pow(x, 2) => mul(x, x)",
      "pow(x, 3) => mul(mul(x, x), x)",
      "pow(x, 0.5) => sqrt(x) if float(x)",
      "pow(x, -1) => div(1, x) if float(x)",
      "pow(x, -0.5) => div(1, sqrt(x)) if float(x)",

      // Movement of movement.
      "transpose{perm=p}(transpose{perm=q}(x)) => transpose{perm=compose(q, p)}(x)",
      "reshape{shape=a}(reshape(x)) => reshape{shape=a}(x)",
      "broadcast{shape=a}(broadcast(x)) => broadcast{shape=a}(x)",

      // Transposed operands of a contraction; a constant is transposed now.
      "matmul{transpose_a=a, transpose_b=0}(x, transpose{perm=p}(y)) =>"
      " matmul{transpose_a=a, transpose_b=1}(x, y) if swaps_last(p)",
      "matmul{transpose_a=0, transpose_b=a}(transpose{perm=p}(x), y) =>"
      " matmul{transpose_a=1, transpose_b=a}(x, y) if swaps_last(p)",
      "matmul{transpose_a=a, transpose_b=1}(x, c) =>"
      " matmul{transpose_a=a, transpose_b=0}(x, transpose{perm=swap_last(c)}(c))",
  };
  static const auto* rules = new std::vector<Rule>(ParseRules(kRules));
  return *rules;
}

absl::StatusOr<bool> AlgebraPass(Graph& graph, const PassContext& context) {
  return ApplyRules(graph, AlgebraRules(), context);
}

}  // namespace attune
