#include "opt/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(Rule, Parses) {
  const absl::StatusOr<Rule> rule =
      ParseRule("mul(x, (pow(y, -0.5) | sqrt(c))) => softmax{axis=2}(x) if float(x), sole()");
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_EQ(rule->from.op, Op::kMul);
  const Pattern& either = rule->from.operands[1];
  EXPECT_EQ(either.kind, Pattern::Kind::kEither);
  EXPECT_EQ(either.operands[0].operands[1].number, -0.5);
  EXPECT_TRUE(either.operands[1].operands[0].IsConstantVariable());
  EXPECT_EQ(rule->to.attributes[0].second.number, 2);
  ASSERT_EQ(rule->conditions.size(), 2u);
  EXPECT_EQ(rule->conditions[0].arguments, std::vector<std::string>{"x"});
  EXPECT_TRUE(rule->conditions[1].arguments.empty());
}

TEST(Rule, DefinitionsNest) {
  const PatternDefinition definitions[] = {{"square", "mul(x, x)"}, {"cube", "mul(x, $square)"}};
  const absl::StatusOr<Rule> rule = ParseRule("neg($cube) => x", definitions);
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_EQ(rule->text, "neg(mul(x, mul(x, x))) => x");
}

TEST(Rule, ErrorsNameWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"x => x", "a rule starts with an operator"},
      {"nag(x) => x", "column 4: no operator 'nag'"},
      {"neg(x)", "expected '=>'"},
      {"neg(x) => y", "'y' is not on the left side"},
      {"neg(x => x", "expected ')'"},
      {"neg(x) => x y", "more text than a rule"},
      {"softmax{axes=1}(x) => x", "softmax has no attribute 'axes'"},
      {"softmax{axis=value(s)}(x) => x", "no function 'value' here"},
      {"softmax{axis=a}(x) => softmax{axis=twice(a)}(x)", "no function 'twice' here"},
      {"neg(x) => x if even(x)", "no condition 'even'"},
      {"neg(x) => x if float(y)", "'y' is not on the left side"},
      {"add(x, 1.2.3) => x", "not a number"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(std::string(ParseRule(text).status().message()), HasSubstr(message)) << text;
  }
}

}  // namespace
}  // namespace attune
