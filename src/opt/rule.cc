#include "opt/rule.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/fatal.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr std::string_view kFunctions[] = {"compose",    "swap_last", "value",
                                           "reciprocal", "product",   "trailing"};
constexpr std::string_view kConditions[] = {"float",      "f32",     "int",        "signed",
                                            "invertible", "ordered", "swaps_last", "sole"};

template <typename Table>
bool IsIn(const Table& table, std::string_view name) {
  return std::find(std::begin(table), std::end(table), name) != std::end(table);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Rule> ParseRule() {
    Rule rule;
    rule.text = std::string(text_);
    ASSIGN_OR_RETURN(rule.from, ParsePattern());
    if (rule.from.kind != Pattern::Kind::kOperator) return Error("a rule starts with an operator");
    names_are_complete_ = true;
    RETURN_IF_ERROR(Expect("=>"));
    ASSIGN_OR_RETURN(rule.to, ParsePattern());
    if (Accept("if ")) {
      do {
        ASSIGN_OR_RETURN(Condition condition, ParseCondition());
        rule.conditions.push_back(std::move(condition));
      } while (Accept(","));
    }
    SkipSpace();
    if (at_ != text_.size()) return Error("more text than a rule");
    return rule;
  }

 private:
  absl::Status Error(std::string_view what) const {
    return InvalidInput("rule '", text_, "', column ", at_ + 1, ": ", what);
  }

  void SkipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool Accept(std::string_view token) {
    SkipSpace();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  absl::Status Expect(std::string_view token) {
    return Accept(token) ? absl::OkStatus() : Error(absl::StrCat("expected '", token, "'"));
  }

  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool AtNumber() {
    const char c = Peek();
    return std::isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '.';
  }

  absl::StatusOr<double> ParseNumber() {
    const size_t end = text_.find_first_not_of("+-.0123456789e", at_);
    double number;
    if (!absl::SimpleAtod(text_.substr(at_, end - at_), &number)) return Error("not a number");
    at_ = std::min(end, text_.size());
    return number;
  }

  absl::StatusOr<std::string> ParseName() {
    SkipSpace();
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    if (at_ == start) return Error("expected a name");
    return std::string(text_.substr(start, at_ - start));
  }

  // Notes a variable of the left side, or checks that it was there.
  absl::Status UseVariable(const std::string& name) {
    if (!names_are_complete_) {
      names_.insert(name);
    } else if (!names_.contains(name)) {
      return Error(absl::StrCat("'", name, "' is not on the left side"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Pattern> ParsePattern() {
    Pattern pattern;
    if (AtNumber()) {
      ASSIGN_OR_RETURN(pattern.number, ParseNumber());
      return pattern;
    }
    if (Accept("(")) {
      pattern.kind = Pattern::Kind::kEither;
      do {
        ASSIGN_OR_RETURN(Pattern alternative, ParsePattern());
        pattern.operands.push_back(std::move(alternative));
      } while (Accept("|"));
      RETURN_IF_ERROR(Expect(")"));
      return pattern;
    }
    ASSIGN_OR_RETURN(const std::string name, ParseName());
    if (Peek() == '(' || Peek() == '{') return ParseOperator(name);
    RETURN_IF_ERROR(UseVariable(name));
    pattern.kind = Pattern::Kind::kVariable;
    pattern.variable = name;
    return pattern;
  }

  absl::StatusOr<Pattern> ParseOperator(const std::string& name) {
    Pattern pattern;
    pattern.kind = Pattern::Kind::kOperator;
    const std::optional<Op> op = ParseOp(name);
    if (!op) return Error(absl::StrCat("no operator '", name, "'"));
    pattern.op = *op;
    if (Accept("{")) {
      do {
        ASSIGN_OR_RETURN(const std::string attribute, ParseName());
        if (GetOpInfo(*op).FindAttribute(attribute) == nullptr) {
          return Error(absl::StrCat(name, " has no attribute '", attribute, "'"));
        }
        RETURN_IF_ERROR(Expect("="));
        ASSIGN_OR_RETURN(AttributeExpression value, ParseExpression());
        pattern.attributes.emplace_back(attribute, std::move(value));
      } while (Accept(","));
      RETURN_IF_ERROR(Expect("}"));
    }
    RETURN_IF_ERROR(Expect("("));
    do {
      ASSIGN_OR_RETURN(Pattern operand, ParsePattern());
      pattern.operands.push_back(std::move(operand));
    } while (Accept(","));
    RETURN_IF_ERROR(Expect(")"));
    return pattern;
  }

  absl::StatusOr<AttributeExpression> ParseExpression() {
    AttributeExpression expression;
    if (AtNumber()) {
      ASSIGN_OR_RETURN(expression.number, ParseNumber());
    } else if (Accept("'")) {
      expression.kind = AttributeExpression::Kind::kString;
      ASSIGN_OR_RETURN(expression.text, ParseName());
      RETURN_IF_ERROR(Expect("'"));
    } else if (Accept("[")) {
      expression.kind = AttributeExpression::Kind::kList;
      RETURN_IF_ERROR(ParseArguments("]", expression));
    } else {
      ASSIGN_OR_RETURN(expression.text, ParseName());
      if (!Accept("(")) {
        expression.kind = AttributeExpression::Kind::kVariable;
        RETURN_IF_ERROR(UseVariable(expression.text));
        return expression;
      }
      if (!names_are_complete_ || !IsIn(kFunctions, expression.text)) {
        return Error(absl::StrCat("no function '", expression.text, "' here"));
      }
      expression.kind = AttributeExpression::Kind::kCall;
      RETURN_IF_ERROR(ParseArguments(")", expression));
    }
    return expression;
  }

  absl::Status ParseArguments(std::string_view end, AttributeExpression& expression) {
    do {
      ASSIGN_OR_RETURN(AttributeExpression argument, ParseExpression());
      expression.arguments.push_back(std::move(argument));
    } while (Accept(","));
    return Expect(end);
  }

  absl::StatusOr<Condition> ParseCondition() {
    Condition condition;
    ASSIGN_OR_RETURN(condition.name, ParseName());
    if (!IsIn(kConditions, condition.name)) return Error(absl::StrCat("no condition '", condition.name, "'"));
    RETURN_IF_ERROR(Expect("("));
    if (Accept(")")) return condition;
    do {
      ASSIGN_OR_RETURN(std::string argument, ParseName());
      RETURN_IF_ERROR(UseVariable(argument));
      condition.arguments.push_back(std::move(argument));
    } while (Accept(","));
    RETURN_IF_ERROR(Expect(")"));
    return condition;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::set<std::string> names_;  // of the left side's variables
  bool names_are_complete_ = false;
};

// `text` with the definitions' texts in place of their names. Later definitions may use earlier ones.
std::string Expand(std::string_view text, std::span<const PatternDefinition> definitions) {
  std::string expanded(text);
  for (auto it = definitions.rbegin(); it != definitions.rend(); ++it) {
    expanded = absl::StrReplaceAll(expanded, {{absl::StrCat("$", it->name), it->text}});
  }
  return expanded;
}

}  // namespace

absl::StatusOr<Rule> ParseRule(std::string_view text, std::span<const PatternDefinition> definitions) {
  const std::string expanded = Expand(text, definitions);
  return Parser(expanded).ParseRule();
}

std::vector<Rule> ParseRules(std::span<const std::string_view> texts,
                             std::span<const PatternDefinition> definitions) {
  std::vector<Rule> rules;
  for (std::string_view text : texts) {
    absl::StatusOr<Rule> rule = ParseRule(text, definitions);
    if (!rule.ok()) Fatal(rule.status().message());
    rules.push_back(*std::move(rule));
  }
  return rules;
}

}  // namespace attune
