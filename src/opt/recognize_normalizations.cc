#include "opt/apply_rules.h"
#include "opt/passes.h"
#include "opt/rule_tables.h"

namespace attune {

std::span<const Rule> NormalizationRules() {
  static constexpr PatternDefinition kDefinitions[] = {
      {"centered", "sub(x, reduce_mean{axes=a, keepdims=1}(x))"},
      {"variance", "reduce_mean{axes=a, keepdims=1}((pow($centered, 2) | mul($centered, $centered)))"},
      {"deviation", "(sqrt(add($variance, s)) | pow(add($variance, s), 0.5))"},
      {"square_mean", "reduce_mean{axes=a, keepdims=1}((pow(x, 2) | mul(x, x)))"},
      {"root", "(sqrt(add($square_mean, s)) | pow(add($square_mean, s), 0.5))"},
  };
  static constexpr std::string_view kRules[] = {
      "div(exp(x), reduce_sum{axes=[a], keepdims=1}(exp(x))) => softmax{axis=a}(x)",
      "softmax{axis=a}(sub(x, reduce_max{axes=[a], keepdims=1}(x))) => softmax{axis=a}(x)",
      "log(softmax{axis=a}(x)) => log_softmax{axis=a}(x)",

      "div($centered, $deviation) => layer_norm{axis=trailing(a, x), epsilon=value(s)}(x)",
      "mul($centered, (div(1, $deviation) | pow($deviation, -1) | pow(add($variance, s), -0.5))) =>"
      " layer_norm{axis=trailing(a, x), epsilon=value(s)}(x)",
      "mul(layer_norm{axis=a, epsilon=e}(x), c) => layer_norm{axis=a, epsilon=e}(x, c) if sole()",
      "add(layer_norm{axis=a, epsilon=e}(x, c1), c2) => layer_norm{axis=a, epsilon=e}(x, c1, c2) if sole()",

      "div(x, $root) => rms_norm{axis=trailing(a, x), epsilon=value(s)}(x)",
      "mul(x, (div(1, $root) | pow($root, -1) | pow(add($square_mean, s), -0.5))) =>"
      " rms_norm{axis=trailing(a, x), epsilon=value(s)}(x)",
      "mul(rms_norm{axis=a, epsilon=e}(x), c) => rms_norm{axis=a, epsilon=e}(x, c) if sole()",
  };
  static const auto* rules = new std::vector<Rule>(ParseRules(kRules, kDefinitions));
  return *rules;
}

absl::StatusOr<bool> RecognizeNormalizationsPass(Graph& graph, const PassContext& context) {
  return ApplyRules(graph, NormalizationRules(), context);
}

}  // namespace attune
