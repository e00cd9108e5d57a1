#include "opt/apply_rules.h"
#include "opt/passes.h"
#include "opt/rule_tables.h"

namespace attune {

std::span<const Rule> ActivationRules() {
  static constexpr PatternDefinition kDefinitions[] = {
      {"gate", "add(erf(mul(x, 0.70710678118654752)), 1)"},
      {"cube", "(pow(x, 3) | mul(x, mul(x, x)) | mul(x, pow(x, 2)))"},
      // x + 0.044715 x³, as written and with x factored out
      {"polynomial",
       "(add(x, mul($cube, 0.044715)) | add(x, mul(x, (mul(mul(x, x), 0.044715) | mul(x, mul(x, 0.044715)))))"
       " | add(x, mul(mul(x, 0.044715), (mul(x, x) | pow(x, 2)))) | mul(x, add(mul(mul(x, x), 0.044715), "
       "1)))"},
      {"tanh_gate", "add(tanh(mul($polynomial, 0.79788456080286536)), 1)"},
  };
  static constexpr std::string_view kRules[] = {
      "div(1, add(exp(neg(x)), 1)) => sigmoid(x)",
      "mul(x, sigmoid(x)) => silu(x)",

      "mul(mul(x, 0.5), $gate) => gelu{approximate='none'}(x)",
      "mul(x, mul($gate, 0.5)) => gelu{approximate='none'}(x)",
      "mul(mul(x, $gate), 0.5) => gelu{approximate='none'}(x)",
      "mul(mul(x, 0.5), $tanh_gate) => gelu{approximate='tanh'}(x)",
      "mul(x, mul($tanh_gate, 0.5)) => gelu{approximate='tanh'}(x)",
      "mul(mul(x, $tanh_gate), 0.5) => gelu{approximate='tanh'}(x)",

      "mul(clip{min=0, max=6}(add(x, 3)), 0.16666666666666667) =>"
      " hard_sigmoid{alpha=0.16666666666666667, beta=0.5}(x)",
      "clip{min=0, max=1}(add(mul(x, s1), s2)) => hard_sigmoid{alpha=value(s1), beta=value(s2)}(x) if f32(x)",
      "clip{min=0, max=1}(add(div(x, s1), s2)) => hard_sigmoid{alpha=reciprocal(s1), beta=value(s2)}(x)"
      " if f32(x), invertible(s1)",
      "mul(x, hard_sigmoid{alpha=0.16666666666666667, beta=0.5}(x)) => hard_swish(x)",
      "mul(mul(x, clip{min=0, max=6}(add(x, 3))), 0.16666666666666667) => hard_swish(x)",
      "mul(mul(x, 0.16666666666666667), clip{min=0, max=6}(add(x, 3))) => hard_swish(x)",
  };
  static const auto* rules = new std::vector<Rule>(ParseRules(kRules, kDefinitions));
  return *rules;
}

absl::StatusOr<bool> RecognizeActivationsPass(Graph& graph, const PassContext& context) {
  return ApplyRules(graph, ActivationRules(), context);
}

}  // namespace attune
