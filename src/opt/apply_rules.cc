#include "opt/apply_rules.h"

#include <algorithm>
#include <optional>

#include "base/fatal.h"
#include "base/status.h"
#include "opt/match.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// Rules make graphs smaller or more canonical, but a table may contain a circle.
constexpr int kMaxSweeps = 64;

std::optional<ExactNumber> AsNumber(const Attribute& attribute) {
  if (const int64_t* i = std::get_if<int64_t>(&attribute)) return *i;
  if (const double* d = std::get_if<double>(&attribute)) return *d;
  if (const ExactNumber* n = std::get_if<ExactNumber>(&attribute)) return *n;
  return std::nullopt;
}

std::optional<Attribute> Compose(const Attribute& inner, const Attribute& outer) {
  const Ints& q = std::get<Ints>(inner);
  const Ints& p = std::get<Ints>(outer);
  Ints result;
  for (int64_t axis : p) result.push_back(q[axis]);
  return result;
}

Attribute SwapLast(int rank) {
  Ints permutation(rank);
  for (int i = 0; i < rank; ++i) permutation[i] = i;
  if (rank >= 2) std::swap(permutation[rank - 1], permutation[rank - 2]);
  return permutation;
}

std::optional<Attribute> Trailing(const Attribute& attribute, int rank) {
  const Ints& axes = std::get<Ints>(attribute);
  if (axes.empty()) return std::nullopt;
  const int64_t first = rank - static_cast<int64_t>(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != first + static_cast<int64_t>(i)) return std::nullopt;
  }
  return first;
}

// Builds a rule's right side before the node that it replaces.
class Builder {
 public:
  Builder(Graph& graph, Node* root, const Match& match, const PassContext& context)
      : graph_(graph), root_(root), match_(match), context_(context) {}

  // nullptr where the rule does not apply after all.
  Value* Build(const Pattern& pattern) {
    switch (pattern.kind) {
      case Pattern::Kind::kNumber:
        return Added(
            graph_.AddConstant(Tensor::Scalar(root_->output()->type().dtype, pattern.number), "", root_));
      case Pattern::Kind::kVariable:
        return match_.values.at(pattern.variable);
      case Pattern::Kind::kOperator:
        return BuildOperator(pattern);
      case Pattern::Kind::kEither:
        Fatal("a choice on the right side of a rule");
    }
    return nullptr;
  }

  // Removes the nodes that were built and are not used.
  void Clean() {
    for (auto it = added_.rbegin(); it != added_.rend(); ++it) {
      if (graph_.NumUses((*it)->output()) == 0) graph_.Erase(*it);
    }
  }

 private:
  Value* Added(Value* value) {
    added_.push_back(value->producer());
    return value;
  }

  Value* BuildOperator(const Pattern& pattern) {
    std::vector<Value*> operands;
    for (const Pattern& operand : pattern.operands) {
      operands.push_back(Build(operand));
      if (operands.back() == nullptr) return nullptr;
    }
    Attributes attributes;
    for (const auto& [name, expression] : pattern.attributes) {
      const std::optional<Attribute> value = Evaluate(expression);
      if (!value) return nullptr;
      const AttributeKind kind = GetOpInfo(pattern.op).FindAttribute(name)->kind;
      attributes.Set(name, Convert(*value, kind));
    }
    const absl::StatusOr<Node*> node = graph_.Add(pattern.op, operands, attributes, root_->name(), root_);
    if (!node.ok()) return nullptr;
    Value* result = Added((*node)->output());
    const bool constant = std::all_of(operands.begin(), operands.end(),
                                      [](const Value* operand) { return operand->constant() != nullptr; });
    return constant ? Fold(**node) : result;
  }

  Value* Fold(const Node& node) {
    std::vector<Tensor> inputs;
    int64_t largest = 1;
    for (const Value* input : node.inputs()) {
      inputs.push_back(*input->constant());
      largest = std::max(largest, inputs.back().num_elements());
    }
    if (node.output()->type().num_elements() > largest) return nullptr;
    absl::StatusOr<std::vector<Tensor>> results = context_.evaluate(node, inputs);
    if (!results.ok()) return nullptr;
    return Added(graph_.AddConstant(std::move((*results)[0]), "", root_));
  }

  static Attribute Convert(const Attribute& value, AttributeKind kind) {
    const std::optional<ExactNumber> number = AsNumber(value);
    if (number && kind == AttributeKind::kInt) return number->To<int64_t>();
    if (number && kind == AttributeKind::kFloat) return number->ToDouble();
    if (number && kind == AttributeKind::kNumber) return *number;
    return value;
  }

  std::optional<Attribute> Evaluate(const AttributeExpression& expression) const {
    switch (expression.kind) {
      case AttributeExpression::Kind::kNumber:
        return expression.number;
      case AttributeExpression::Kind::kString:
        return expression.text;
      case AttributeExpression::Kind::kVariable:
        return match_.attributes.at(expression.text);
      case AttributeExpression::Kind::kList:
        return EvaluateList(expression);
      case AttributeExpression::Kind::kCall:
        return Call(expression.text, expression.arguments);
    }
    return std::nullopt;
  }

  std::optional<Attribute> EvaluateList(const AttributeExpression& expression) const {
    Ints list;
    for (const AttributeExpression& argument : expression.arguments) {
      const std::optional<Attribute> element = Evaluate(argument);
      const std::optional<ExactNumber> number = element ? AsNumber(*element) : std::nullopt;
      if (!number) return std::nullopt;
      list.push_back(number->To<int64_t>());
    }
    return list;
  }

  std::optional<Attribute> Call(const std::string& function,
                                const std::vector<AttributeExpression>& arguments) const {
    if (function == "compose") return Compose(*Evaluate(arguments[0]), *Evaluate(arguments[1]));
    if (function == "swap_last") return SwapLast(Operand(arguments[0])->type().rank());
    if (function == "trailing")
      return Trailing(*Evaluate(arguments[0]), Operand(arguments[1])->type().rank());
    if (function == "value") return Operand(arguments[0])->constant()->ToNumber(0);
    if (function == "reciprocal") return 1 / Operand(arguments[0])->constant()->ToDouble(0);
    if (function == "product") {
      const std::optional<Attribute> a = Evaluate(arguments[0]);
      const std::optional<Attribute> b = Evaluate(arguments[1]);
      return a && b ? std::optional<Attribute>(AsNumber(*a)->ToDouble() * AsNumber(*b)->ToDouble())
                    : std::nullopt;
    }
    Fatal("no function '", function, "' in rules");
  }

  const Value* Operand(const AttributeExpression& argument) const { return match_.values.at(argument.text); }

  Graph& graph_;
  Node* root_;
  const Match& match_;
  const PassContext& context_;
  std::vector<Node*> added_;
};

bool MayFit(const Pattern& pattern, Op op) {
  return pattern.op == op || (pattern.op == Op::kMul && op == Op::kDiv) ||
         (pattern.op == Op::kAdd && op == Op::kSub);
}

}  // namespace

bool ApplyRule(Graph& graph, Node* node, const Rule& rule, const PassContext& context) {
  if (!MayFit(rule.from, node->op())) return false;
  for (const Match& match : FindMatches(rule.from, node)) {
    const bool holds = std::all_of(rule.conditions.begin(), rule.conditions.end(),
                                   [&](const Condition& condition) { return Holds(condition, match); });
    if (!holds) continue;
    Builder builder(graph, node, match, context);
    Value* replacement = builder.Build(rule.to);
    const bool fits = replacement != nullptr && replacement->type() == node->output()->type();
    if (fits) ReplaceNode(graph, node, replacement);
    builder.Clean();
    if (!fits) continue;
    return true;
  }
  return false;
}

absl::StatusOr<bool> ApplyRules(Graph& graph, std::span<const Rule> rules, const PassContext& context) {
  bool changed = false;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool swept = false;
    for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
      Node* node = it++->get();
      swept |= std::any_of(rules.begin(), rules.end(),
                           [&](const Rule& rule) { return ApplyRule(graph, node, rule, context); });
    }
    if (!swept) break;
    changed = true;
    RETURN_IF_ERROR(DeadCodePass(graph, context).status());
  }
  return changed;
}

}  // namespace attune
