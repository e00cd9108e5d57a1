#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/text/lexer.h"
#include "graph/infer.h"
#include "graph/literal.h"
#include "graph/names.h"
#include "graph/node_rules.h"
#include "graph/parse_attribute.h"
#include "graph/text.h"
#include "graph/verify.h"

namespace attune {
namespace {

// A value as it is written after a percent sign: by its name, or by a number where it has none.
struct ValueName {
  bool is_number = false;
  std::string text;
  size_t offset = 0;

  std::string Spell() const { return "%" + (is_number ? text : QuoteUnlessIdentifier(text)); }
  bool operator<(const ValueName& other) const {
    return std::tie(is_number, text) < std::tie(other.is_number, other.text);
  }
};

// One statement before its node is made.
struct Statement {
  std::vector<ValueName> results;
  Op op = Op::kConstant;
  size_t offset = 0;  // of the operator
  std::vector<Value*> operands;
  Attributes attributes;
  std::vector<std::unique_ptr<Graph>> regions;
  std::string name;
  std::vector<TensorType> types;
};

// The values of the graph being parsed that have been made so far.
using Scope = std::map<ValueName, Value*>;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  // A graph, inside `depth` others.
  absl::StatusOr<std::unique_ptr<Graph>> ParseOneGraph(int depth);
  absl::Status ExpectEnd() { return lexer_.AtEnd() ? absl::OkStatus() : lexer_.Error("expected the end"); }

 private:
  absl::Status ParseInputs(Graph& graph, Scope& scope);
  absl::Status ParseReturn(Graph& graph, const Scope& scope);
  absl::Status ParseStatement(Graph& graph, Scope& scope, int depth);

  // The parts of a statement, in order.
  absl::Status ParseResults(Statement& statement);
  absl::Status ParseOperator(Statement& statement);
  absl::Status ParseOperands(Statement& statement, const Scope& scope);
  absl::Status ParseAttributesAndRegions(Statement& statement, int depth);
  absl::Status ParseAttributes(Statement& statement);
  absl::Status ParseRegions(Statement& statement, int depth);
  absl::Status ParseTypes(Statement& statement);

  absl::StatusOr<ValueName> ParseValueName();
  absl::StatusOr<Value*> ParseValue(const Scope& scope);
  absl::Status Define(const ValueName& name, Value* value, Scope& scope);
  absl::StatusOr<std::string> ParseAtName();  // after the at sign

  Lexer lexer_;
};

absl::StatusOr<std::unique_ptr<Graph>> Parser::ParseOneGraph(int depth) {
  if (depth > kMaxRegionDepth) {
    return lexer_.Error(absl::StrCat("regions nest deeper than ", kMaxRegionDepth));
  }
  auto graph = std::make_unique<Graph>();
  Scope scope;
  RETURN_IF_ERROR(lexer_.Expect("graph"));
  if (lexer_.Take("@")) {
    ASSIGN_OR_RETURN(std::string name, ParseAtName());
    graph->set_name(std::move(name));
  }
  RETURN_IF_ERROR(ParseInputs(*graph, scope));
  RETURN_IF_ERROR(lexer_.Expect("{"));
  while (!lexer_.At("return")) RETURN_IF_ERROR(ParseStatement(*graph, scope, depth));
  RETURN_IF_ERROR(ParseReturn(*graph, scope));
  RETURN_IF_ERROR(lexer_.Expect("}"));
  return graph;
}

absl::Status Parser::ParseInputs(Graph& graph, Scope& scope) {
  RETURN_IF_ERROR(lexer_.Expect("("));
  if (lexer_.Take(")")) return absl::OkStatus();
  do {
    ASSIGN_OR_RETURN(const ValueName name, ParseValueName());
    RETURN_IF_ERROR(lexer_.Expect(":"));
    ASSIGN_OR_RETURN(TensorType type, ParseType(lexer_));
    RETURN_IF_ERROR(Define(name, graph.AddInput("", std::move(type)), scope));
  } while (lexer_.Take(","));
  return lexer_.Expect(")");
}

absl::Status Parser::ParseReturn(Graph& graph, const Scope& scope) {
  RETURN_IF_ERROR(lexer_.Expect("return"));
  if (lexer_.At("}")) return absl::OkStatus();
  do {
    ASSIGN_OR_RETURN(std::string name, lexer_.TakeString());
    RETURN_IF_ERROR(lexer_.Expect(":"));
    ASSIGN_OR_RETURN(Value * value, ParseValue(scope));
    graph.AddOutput(std::move(name), value);
  } while (lexer_.Take(","));
  return absl::OkStatus();
}

absl::Status Parser::ParseStatement(Graph& graph, Scope& scope, int depth) {
  Statement statement;
  RETURN_IF_ERROR(ParseResults(statement));
  RETURN_IF_ERROR(ParseOperator(statement));
  RETURN_IF_ERROR(ParseOperands(statement, scope));
  RETURN_IF_ERROR(ParseAttributesAndRegions(statement, depth));
  if (lexer_.Take("@")) {
    ASSIGN_OR_RETURN(statement.name, ParseAtName());
  }
  RETURN_IF_ERROR(ParseTypes(statement));

  const absl::StatusOr<Node*> added = graph.Add(
      statement.op, std::move(statement.operands), std::move(statement.attributes), std::move(statement.name),
      nullptr, std::move(statement.regions), static_cast<int>(statement.results.size()));
  if (!added.ok()) return lexer_.ErrorAt(statement.offset, added.status().message());
  Node& node = **added;
  // The text's types say more than inference: the names of symbols, the layouts that planning chose.
  for (int i = 0; i < node.num_outputs(); ++i) {
    node.output(i)->set_type(std::move(statement.types[static_cast<size_t>(i)]));
  }
  if (const absl::Status types = CheckOutputTypes(node); !types.ok()) {
    return lexer_.ErrorAt(statement.offset, absl::StrCat(OpName(node.op()), ": ", types.message()));
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    RETURN_IF_ERROR(Define(statement.results[static_cast<size_t>(i)], node.output(i), scope));
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseResults(Statement& statement) {
  if (!lexer_.At("%")) return absl::OkStatus();
  do {
    ASSIGN_OR_RETURN(ValueName name, ParseValueName());
    statement.results.push_back(std::move(name));
  } while (lexer_.Take(","));
  return lexer_.Expect("=");
}

absl::Status Parser::ParseOperator(Statement& statement) {
  const std::optional<Op> op = lexer_.AtWord() ? ParseOp(lexer_.token().text) : std::nullopt;
  if (!op) return lexer_.Error("expected an operator");
  statement.op = *op;
  statement.offset = lexer_.token().offset;
  lexer_.Next();
  return absl::OkStatus();
}

absl::Status Parser::ParseOperands(Statement& statement, const Scope& scope) {
  RETURN_IF_ERROR(lexer_.Expect("("));
  if (lexer_.Take(")")) return absl::OkStatus();
  do {
    Value* operand = nullptr;
    if (!lexer_.Take("_")) {
      ASSIGN_OR_RETURN(operand, ParseValue(scope));
    }
    statement.operands.push_back(operand);
  } while (lexer_.Take(","));
  return lexer_.Expect(")");
}

absl::Status Parser::ParseAttributesAndRegions(Statement& statement, int depth) {
  if (!lexer_.Take("{")) return absl::OkStatus();
  if (!lexer_.At("graph")) {
    RETURN_IF_ERROR(ParseAttributes(statement));
    if (!lexer_.Take("{")) return absl::OkStatus();
  }
  return ParseRegions(statement, depth);
}

absl::Status Parser::ParseAttributes(Statement& statement) {
  const OpInfo& info = GetOpInfo(statement.op);
  do {
    const std::string name(lexer_.token().text);
    const AttributeInfo* attribute = lexer_.AtWord() ? info.FindAttribute(name) : nullptr;
    if (attribute == nullptr) return lexer_.Error(absl::StrCat("expected an attribute of ", info.name));
    if (statement.attributes.Has(name)) return lexer_.Error("the attribute is given twice");
    lexer_.Next();
    RETURN_IF_ERROR(lexer_.Expect("="));
    ASSIGN_OR_RETURN(Attribute value, ParseAttribute(lexer_, attribute->kind));
    statement.attributes.Set(name, std::move(value));
  } while (lexer_.Take(","));
  return lexer_.Expect("}");
}

absl::Status Parser::ParseRegions(Statement& statement, int depth) {
  while (!lexer_.Take("}")) {
    ASSIGN_OR_RETURN(std::unique_ptr<Graph> region, ParseOneGraph(depth + 1));
    statement.regions.push_back(std::move(region));
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseTypes(Statement& statement) {
  for (size_t i = 0; i < statement.results.size(); ++i) {
    RETURN_IF_ERROR(lexer_.Expect(i == 0 ? ":" : ","));
    ASSIGN_OR_RETURN(TensorType type, ParseType(lexer_));
    statement.types.push_back(std::move(type));
  }
  return absl::OkStatus();
}

absl::StatusOr<ValueName> Parser::ParseValueName() {
  ValueName name;
  name.offset = lexer_.token().offset;
  RETURN_IF_ERROR(lexer_.Expect("%"));
  if (lexer_.AtString()) {
    ASSIGN_OR_RETURN(name.text, lexer_.TakeString());
    if (name.text.empty()) return lexer_.ErrorAt(name.offset, "the name of a value is empty");
    return name;
  }
  name.text = lexer_.token().text;
  name.is_number = !name.text.empty() && name.text.find_first_not_of("0123456789") == std::string::npos;
  if (!lexer_.AtWord() || !(name.is_number || IsIdentifier(name.text))) {
    return lexer_.Error("expected the name of a value");
  }
  lexer_.Next();
  return name;
}

absl::StatusOr<Value*> Parser::ParseValue(const Scope& scope) {
  ASSIGN_OR_RETURN(const ValueName name, ParseValueName());
  const auto it = scope.find(name);
  if (it == scope.end()) {
    return lexer_.ErrorAt(name.offset, absl::StrCat("no value ", name.Spell(), " is made before this use"));
  }
  return it->second;
}

absl::Status Parser::Define(const ValueName& name, Value* value, Scope& scope) {
  if (!scope.emplace(name, value).second) {
    return lexer_.ErrorAt(name.offset, absl::StrCat("there are two values ", name.Spell()));
  }
  if (!name.is_number) value->set_name(name.text);
  return absl::OkStatus();
}

absl::StatusOr<std::string> Parser::ParseAtName() {
  if (lexer_.AtString()) return lexer_.TakeString();
  std::string name(lexer_.token().text);
  if (!lexer_.AtWord() || !IsIdentifier(name)) return lexer_.Error("expected a name");
  lexer_.Next();
  return name;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Graph>> ParseGraph(std::string_view text) {
  Parser parser(text);
  ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, parser.ParseOneGraph(0));
  RETURN_IF_ERROR(parser.ExpectEnd());
  RETURN_IF_ERROR(Verify(*graph));
  return graph;
}

}  // namespace attune
