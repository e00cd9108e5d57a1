// Rewrite rules as data: one line of text a rule.
//
//   mul(mul(x, c1), c2) => mul(x, mul(c1, c2))
//   transpose{perm=p}(transpose{perm=q}(x)) => transpose{perm=compose(q, p)}(x)
//   div(x, c) => mul(x, div(1, c)) if f32(x), invertible(c)
//
// Left of the arrow is a pattern, right of it what replaces its root.
//
// Operands. A name without parentheses is a variable, by its first letter: c is a constant, s a constant
// of one element, any other letter any value; where it occurs again, it is the same value. A number
// stands for a constant of which every element is this number: a whole number exactly, another one to a
// relative 1e-5. (a | b) is either. A pattern fits in any order of a commutative operator's operands;
// mul by a number also fits div by its reciprocal, add of a number sub of its negation. $name stands for
// the text of a definition. An operator has exactly the operands that are written.
//
// Attributes. Others may have any value. On the left an attribute is a number, a 'string', a variable, or a
// list of those; an absent one has the operator table's default. On the right it may also be a call of one of
// the functions below, and the rule does not apply where that fails: compose(q, p) the permutation q[p[i]]
// swap_last(x) the permutation of rank(x) axes that swaps the last two value(s) the element of s
// reciprocal(s) 1 / the element of s product(a, b) of two numbers trailing(a, x) the first of the axes a,
// which are all of x's axes from that one on
//
// Conditions, after `if`:
//   float(x), f32(x), int(x), signed(x)  the element type; signed: float or signed integer
//   invertible(c)      no element's reciprocal is subnormal or infinite
//   ordered(s1, s2)    s1 <= s2
//   swaps_last(p)      the permutation p swaps the last two axes and keeps the others
//   sole()             nothing outside of the match uses the values inside of it
//
// An operator on the right that has constant operands alone is computed at once; a rule does not apply where
// that gives a constant larger than its largest operand, or where the result's type differs from the type
// of what it replaces.
#ifndef ATTUNE_OPT_RULE_H_
#define ATTUNE_OPT_RULE_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/op.h"

namespace attune {

// A number, a string, a variable, a list of expressions, or a function with its arguments.
struct AttributeExpression {
  enum class Kind { kNumber, kString, kVariable, kList, kCall };
  Kind kind = Kind::kNumber;
  double number = 0;
  std::string text;  // of the string; the variable's or the function's name
  std::vector<AttributeExpression> arguments;
};

struct Pattern {
  enum class Kind { kNumber, kVariable, kOperator, kEither };
  Kind kind = Kind::kNumber;
  double number = 0;
  std::string variable;
  Op op = Op::kIdentity;
  std::vector<std::pair<std::string, AttributeExpression>> attributes;
  std::vector<Pattern> operands;  // of the operator; the alternatives of kEither

  bool IsConstantVariable() const {
    return kind == Kind::kVariable && (variable[0] == 'c' || variable[0] == 's');
  }
  bool IsScalarVariable() const { return kind == Kind::kVariable && variable[0] == 's'; }
};

struct Condition {
  std::string name;
  std::vector<std::string> arguments;
};

struct Rule {
  std::string text;
  Pattern from;  // an operator
  Pattern to;
  std::vector<Condition> conditions;
};

struct PatternDefinition {
  std::string_view name;  // without the $
  std::string_view text;
};

// Errors name what is not understood, where, and the rule: an unknown operator, attribute, function or
// condition, a variable on the right that is not on the left.
absl::StatusOr<Rule> ParseRule(std::string_view text, std::span<const PatternDefinition> definitions = {});

// For tables in the source, where an error is our own bug: aborts with its text.
std::vector<Rule> ParseRules(std::span<const std::string_view> texts,
                             std::span<const PatternDefinition> definitions = {});

}  // namespace attune

#endif  // ATTUNE_OPT_RULE_H_
