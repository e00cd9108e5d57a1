#include "opt/match.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "base/fatal.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

bool IsNear(double actual, double wanted) {
  if (std::nearbyint(wanted) == wanted) return actual == wanted;
  return std::abs(actual - wanted) <= 1e-5 * std::abs(wanted);
}

bool IsNear(const ExactNumber& actual, double wanted) {
  const ExactNumber exact(wanted);
  return exact.is_integer() ? actual == exact : IsNear(actual.ToDouble(), wanted);
}

bool IsEqual(const Attribute& a, const Attribute& b) { return Attributes{{"", a}} == Attributes{{"", b}}; }

// Binds the variables of `expression` where it fits `actual`.
bool MatchAttribute(const AttributeExpression& expression, const Attribute& actual,
                    std::map<std::string, Attribute>& bound) {
  switch (expression.kind) {
    case AttributeExpression::Kind::kNumber:
      if (const int64_t* i = std::get_if<int64_t>(&actual))
        return static_cast<double>(*i) == expression.number;
      if (const double* d = std::get_if<double>(&actual)) return IsNear(*d, expression.number);
      if (const ExactNumber* n = std::get_if<ExactNumber>(&actual)) return IsNear(*n, expression.number);
      return false;
    case AttributeExpression::Kind::kString: {
      const std::string* text = std::get_if<std::string>(&actual);
      return text != nullptr && *text == expression.text;
    }
    case AttributeExpression::Kind::kVariable: {
      const auto [it, inserted] = bound.emplace(expression.text, actual);
      return inserted || IsEqual(it->second, actual);
    }
    case AttributeExpression::Kind::kList: {
      const Ints* ints = std::get_if<Ints>(&actual);
      if (ints == nullptr || ints->size() != expression.arguments.size()) return false;
      for (size_t i = 0; i < ints->size(); ++i) {
        if (!MatchAttribute(expression.arguments[i], (*ints)[i], bound)) return false;
      }
      return true;
    }
    case AttributeExpression::Kind::kCall:
      return false;  // on the right side only
  }
  return false;
}

std::vector<Match> MatchValue(const Pattern& pattern, Value* value, const Match& match);

// Extends `match` by `operands` fitting `values`, in this order.
std::vector<Match> MatchOperands(const std::vector<Pattern>& operands, const std::vector<Value*>& values,
                                 const Match& match) {
  std::vector<Match> matches = {match};
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<Match> extended;
    for (const Match& one : matches) {
      for (Match& more : MatchValue(operands[i], values[i], one)) extended.push_back(std::move(more));
    }
    matches = std::move(extended);
  }
  return matches;
}

// Matches mul(x, n) with x / (1/n), and add(x, n) with x - (-n).
std::vector<Match> MatchInverse(const Pattern& pattern, const Node& node, const Match& match) {
  const bool by_division = pattern.op == Op::kMul && node.op() == Op::kDiv;
  const bool by_subtraction = pattern.op == Op::kAdd && node.op() == Op::kSub;
  if (!by_division && !by_subtraction) return {};
  if (!IsFloat(node.output()->type().dtype)) return {};
  const Pattern& number = pattern.operands[1];
  if (number.kind != Pattern::Kind::kNumber || (by_division && number.number == 0)) return {};
  if (!IsConstantOf(node.input(1), by_division ? 1 / number.number : -number.number)) return {};
  return MatchValue(pattern.operands[0], node.input(0), match);
}

std::vector<Match> MatchNode(const Pattern& pattern, const Node& node, const Match& match) {
  if (node.num_outputs() != 1) return {};
  Match here = match;
  here.nodes.push_back(&node);
  if (node.op() != pattern.op) return MatchInverse(pattern, node, here);
  if (node.num_inputs() != static_cast<int>(pattern.operands.size())) return {};
  for (const auto& [name, expression] : pattern.attributes) {
    const std::optional<Attribute> actual = AttributeOrDefault(node, name);
    if (!actual || !MatchAttribute(expression, *actual, here.attributes)) return {};
  }
  std::vector<Match> matches = MatchOperands(pattern.operands, node.inputs(), here);
  if (GetOpInfo(node.op()).commutes && node.input(0) != node.input(1)) {
    for (Match& more : MatchOperands(pattern.operands, {node.input(1), node.input(0)}, here)) {
      matches.push_back(std::move(more));
    }
  }
  return matches;
}

std::vector<Match> MatchValue(const Pattern& pattern, Value* value, const Match& match) {
  if (value == nullptr) return {};
  switch (pattern.kind) {
    case Pattern::Kind::kNumber:
      return IsConstantOf(value, pattern.number) ? std::vector<Match>{match} : std::vector<Match>{};
    case Pattern::Kind::kVariable: {
      const Tensor* constant = value->constant();
      if (pattern.IsConstantVariable() && constant == nullptr) return {};
      if (pattern.IsScalarVariable() && constant->num_elements() != 1) return {};
      Match here = match;
      const auto [it, inserted] = here.values.emplace(pattern.variable, value);
      return inserted || it->second == value ? std::vector<Match>{here} : std::vector<Match>{};
    }
    case Pattern::Kind::kOperator:
      return value->producer() == nullptr ? std::vector<Match>{}
                                          : MatchNode(pattern, *value->producer(), match);
    case Pattern::Kind::kEither: {
      std::vector<Match> matches;
      for (const Pattern& alternative : pattern.operands) {
        for (Match& one : MatchValue(alternative, value, match)) matches.push_back(std::move(one));
      }
      return matches;
    }
  }
  return {};
}

bool IsInvertible(const Tensor& constant) {
  for (int64_t i = 0; i < constant.num_elements(); ++i) {
    const double magnitude = std::abs(constant.ToDouble(i));
    if (!(magnitude >= 1e-37 && magnitude <= 1e37)) return false;
  }
  return true;
}

bool SwapsLast(const Ints& permutation) {
  const int64_t rank = static_cast<int64_t>(permutation.size());
  if (rank < 2) return false;
  for (int64_t i = 0; i < rank - 2; ++i) {
    if (permutation[i] != i) return false;
  }
  return permutation[rank - 1] == rank - 2;
}

// Whether nothing but the matched nodes uses what they make, the root's result aside.
bool IsSole(const Match& match) {
  const auto inside = [&](const Node* node) {
    return std::find(match.nodes.begin(), match.nodes.end(), node) != match.nodes.end();
  };
  for (size_t i = 1; i < match.nodes.size(); ++i) {
    const std::vector<Node*>& users = match.nodes[i]->output()->users();
    if (!std::all_of(users.begin(), users.end(), inside)) return false;
  }
  return true;
}

}  // namespace

bool IsConstantOf(const Value* value, double number) {
  const Tensor* constant = value->constant();
  if (constant == nullptr || constant->num_elements() == 0 || constant->dtype() == DType::kBool) return false;
  if (!IsFloat(constant->dtype())) {
    for (int64_t i = 0; i < constant->num_elements(); ++i) {
      if (!(constant->ToNumber(i) == ExactNumber(number))) return false;
    }
    return true;
  }
  const double rounded = Tensor::Scalar(constant->dtype(), number).ToDouble(0);
  for (int64_t i = 0; i < constant->num_elements(); ++i) {
    const double element = constant->ToDouble(i);
    if (std::nearbyint(number) == number ? element != number : !IsNear(element, rounded)) return false;
  }
  return true;
}

std::optional<Attribute> AttributeOrDefault(const Node& node, std::string_view name) {
  for (const auto& [key, value] : node.attrs()) {
    if (key == name) return value;
  }
  const AttributeInfo* info = GetOpInfo(node.op()).FindAttribute(name);
  if (info == nullptr || info->default_text.empty()) return std::nullopt;
  int64_t whole;
  double number;
  switch (info->kind) {
    case AttributeKind::kInt:
      return absl::SimpleAtoi(info->default_text, &whole) ? std::optional<Attribute>(whole) : std::nullopt;
    case AttributeKind::kFloat:
      return absl::SimpleAtod(info->default_text, &number) ? std::optional<Attribute>(number) : std::nullopt;
    case AttributeKind::kNumber:
      return absl::SimpleAtod(info->default_text, &number) ? std::optional<Attribute>(ExactNumber(number))
                                                           : std::nullopt;
    case AttributeKind::kString:
      return Attribute(std::string(info->default_text));
    default:
      return std::nullopt;
  }
}

std::vector<Match> FindMatches(const Pattern& pattern, Node* root) {
  return MatchNode(pattern, *root, Match());
}

bool Holds(const Condition& condition, const Match& match) {
  if (condition.name == "sole") return IsSole(match);
  const std::string& name = condition.arguments[0];
  if (condition.name == "swaps_last") {
    const Ints* permutation = std::get_if<Ints>(&match.attributes.at(name));
    return permutation != nullptr && SwapsLast(*permutation);
  }
  const Value* value = match.values.at(name);
  const DType dtype = value->type().dtype;
  if (condition.name == "float") return IsFloat(dtype);
  if (condition.name == "f32") return dtype == DType::kF32;
  if (condition.name == "int") return IsInt(dtype);
  if (condition.name == "signed") return IsFloat(dtype) || IsSignedInt(dtype);
  if (condition.name == "invertible") return IsInvertible(*value->constant());
  if (condition.name == "ordered") {
    return value->constant()->ToDouble(0) <= match.values.at(condition.arguments[1])->constant()->ToDouble(0);
  }
  Fatal("no condition '", condition.name, "'");
}

}  // namespace attune
