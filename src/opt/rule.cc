#include "opt/rule.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/fatal.h"
#include "base/status.h"
#include "base/text/lexer.h"

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
  explicit Parser(std::string_view text) : text_(text), lexer_(text) {}

  absl::StatusOr<Rule> ParseRule() {
    Rule rule;
    rule.text = std::string(text_);
    ASSIGN_OR_RETURN(rule.from, ParsePattern());
    if (rule.from.kind != Pattern::Kind::kOperator) return Error("a rule starts with an operator");
    names_are_complete_ = true;
    if (!lexer_.Take("=") || !lexer_.Take(">")) return Error("expected '=>'");
    ASSIGN_OR_RETURN(rule.to, ParsePattern());
    if (lexer_.Take("if")) {
      do {
        ASSIGN_OR_RETURN(Condition condition, ParseCondition());
        rule.conditions.push_back(std::move(condition));
      } while (lexer_.Take(","));
    }
    if (!lexer_.AtEnd()) return Error("more text than a rule");
    return rule;
  }

 private:
  absl::Status Error(std::string_view what) const {
    return InvalidInput("rule '", text_, "', column ", lexer_.token().offset + 1, ": ", what);
  }

  absl::Status Expect(std::string_view token) {
    return lexer_.Take(token) ? absl::OkStatus() : Error(absl::StrCat("expected '", token, "'"));
  }

  bool AtNumber() const {
    const std::string_view text = lexer_.token().text;
    return !text.empty() &&
           (absl::ascii_isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-' || text[0] == '.');
  }

  absl::StatusOr<double> ParseNumber() {
    double number;
    if (!absl::SimpleAtod(lexer_.token().text, &number)) return Error("not a number");
    lexer_.Next();
    return number;
  }

  absl::StatusOr<std::string> ParseName() {
    if (!lexer_.AtName()) return Error("expected a name");
    std::string name(lexer_.token().text);
    lexer_.Next();
    return name;
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
    if (lexer_.Take("(")) {
      pattern.kind = Pattern::Kind::kEither;
      do {
        ASSIGN_OR_RETURN(Pattern alternative, ParsePattern());
        pattern.operands.push_back(std::move(alternative));
      } while (lexer_.Take("|"));
      RETURN_IF_ERROR(Expect(")"));
      return pattern;
    }
    ASSIGN_OR_RETURN(const std::string name, ParseName());
    if (lexer_.At("(") || lexer_.At("{")) return ParseOperator(name);
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
    if (lexer_.Take("{")) {
      do {
        ASSIGN_OR_RETURN(const std::string attribute, ParseName());
        if (GetOpInfo(*op).FindAttribute(attribute) == nullptr) {
          return Error(absl::StrCat(name, " has no attribute '", attribute, "'"));
        }
        RETURN_IF_ERROR(Expect("="));
        ASSIGN_OR_RETURN(AttributeExpression value, ParseExpression());
        pattern.attributes.emplace_back(attribute, std::move(value));
      } while (lexer_.Take(","));
      RETURN_IF_ERROR(Expect("}"));
    }
    RETURN_IF_ERROR(Expect("("));
    do {
      ASSIGN_OR_RETURN(Pattern operand, ParsePattern());
      pattern.operands.push_back(std::move(operand));
    } while (lexer_.Take(","));
    RETURN_IF_ERROR(Expect(")"));
    return pattern;
  }

  absl::StatusOr<AttributeExpression> ParseExpression() {
    AttributeExpression expression;
    if (AtNumber()) {
      ASSIGN_OR_RETURN(expression.number, ParseNumber());
    } else if (lexer_.Take("'")) {
      expression.kind = AttributeExpression::Kind::kString;
      ASSIGN_OR_RETURN(expression.text, ParseName());
      RETURN_IF_ERROR(Expect("'"));
    } else if (lexer_.Take("[")) {
      expression.kind = AttributeExpression::Kind::kList;
      RETURN_IF_ERROR(ParseArguments("]", expression));
    } else {
      ASSIGN_OR_RETURN(expression.text, ParseName());
      if (!lexer_.Take("(")) {
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
    } while (lexer_.Take(","));
    return Expect(end);
  }

  absl::StatusOr<Condition> ParseCondition() {
    Condition condition;
    ASSIGN_OR_RETURN(condition.name, ParseName());
    if (!IsIn(kConditions, condition.name)) return Error(absl::StrCat("no condition '", condition.name, "'"));
    RETURN_IF_ERROR(Expect("("));
    if (lexer_.Take(")")) return condition;
    do {
      ASSIGN_OR_RETURN(std::string argument, ParseName());
      RETURN_IF_ERROR(UseVariable(argument));
      condition.arguments.push_back(std::move(argument));
    } while (lexer_.Take(","));
    RETURN_IF_ERROR(Expect(")"));
    return condition;
  }

  std::string_view text_;
  Lexer lexer_;
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
