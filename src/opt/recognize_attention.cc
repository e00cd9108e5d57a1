#include "opt/apply_rules.h"
#include "opt/passes.h"
#include "opt/rule_tables.h"

namespace attune {

std::span<const Rule> AttentionRules() {
  static constexpr PatternDefinition kDefinitions[] = {
      {"product", "matmul{transpose_a=0, transpose_b=1}(q, k)"},
      {"product_of_transposed", "matmul{transpose_a=0, transpose_b=0}(q, k)"},
      // The transposed key's transposition, which mostly cancels against the one that made it.
      {"key", "transpose{perm=[0, 1, 3, 2]}(k)"},
  };
  static constexpr std::string_view kRules[] = {
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(add(mul($product, s), m)), v) =>"
      " attention{scale=value(s)}(q, k, v, m) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(add(div($product, s), m)), v) =>"
      " attention{scale=reciprocal(s)}(q, k, v, m) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(mul($product, s)), v) =>"
      " attention{scale=value(s)}(q, k, v) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(div($product, s)), v) =>"
      " attention{scale=reciprocal(s)}(q, k, v) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(add($product, m)), v) =>"
      " attention{scale=1}(q, k, v, m) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}($product), v) =>"
      " attention{scale=1}(q, k, v) if sole()",

      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(add(mul($product_of_transposed, s), m)), v) =>"
      " attention{scale=value(s)}(q, $key, v, m) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(add(div($product_of_transposed, s), m)), v) =>"
      " attention{scale=reciprocal(s)}(q, $key, v, m) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(mul($product_of_transposed, s)), v) =>"
      " attention{scale=value(s)}(q, $key, v) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(div($product_of_transposed, s)), v) =>"
      " attention{scale=reciprocal(s)}(q, $key, v) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}(add($product_of_transposed, m)), v) =>"
      " attention{scale=1}(q, $key, v, m) if sole()",
      "matmul{transpose_a=0, transpose_b=0}(softmax{axis=3}($product_of_transposed), v) =>"
      " attention{scale=1}(q, $key, v) if sole()",

      // A scaled query or key.
      "attention{scale=a}(mul(q, s), k, v) => attention{scale=product(a, value(s))}(q, k, v)",
      "attention{scale=a}(mul(q, s), k, v, m) => attention{scale=product(a, value(s))}(q, k, v, m)",
      "attention{scale=a}(div(q, s), k, v) => attention{scale=product(a, reciprocal(s))}(q, k, v)",
      "attention{scale=a}(div(q, s), k, v, m) => attention{scale=product(a, reciprocal(s))}(q, k, v, m)",
      "attention{scale=a}(q, mul(k, s), v) => attention{scale=product(a, value(s))}(q, k, v)",
      "attention{scale=a}(q, mul(k, s), v, m) => attention{scale=product(a, value(s))}(q, k, v, m)",
      "attention{scale=a}(q, transpose{perm=p}(mul(k, s)), v) =>"
      " attention{scale=product(a, value(s))}(q, transpose{perm=p}(k), v)",
      "attention{scale=a}(q, transpose{perm=p}(mul(k, s)), v, m) =>"
      " attention{scale=product(a, value(s))}(q, transpose{perm=p}(k), v, m)",
      "transpose{perm=p}(transpose{perm=q}(x)) => transpose{perm=compose(q, p)}(x)",
  };
  static const auto* rules = new std::vector<Rule>(ParseRules(kRules, kDefinitions));
  return *rules;
}

absl::StatusOr<bool> RecognizeAttentionPass(Graph& graph, const PassContext& context) {
  return ApplyRules(graph, AttentionRules(), context);
}

}  // namespace attune
