// Graphs that a rule's left side fits, at random: for the test of every rule, and for random graphs.
#ifndef ATTUNE_OPT_TESTING_RULE_INSTANCE_H_
#define ATTUNE_OPT_TESTING_RULE_INSTANCE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "graph/graph.h"
#include "opt/rule.h"

namespace attune {

// Makes the values of an instance. Each function gives a value, or null where there is none.
class RuleBuilder {
 public:
  virtual ~RuleBuilder() = default;
  virtual Value* Operand(const TensorType& type) = 0;
  virtual Value* Constant(Tensor data) = 0;
  virtual Value* Add(Op op, std::vector<Value*> operands, Attributes attributes) = 0;
};

class RuleInstance {
 public:
  // Values are of `dtype`, those that the rule leaves open of `shape` (constants may broadcast to it).
  RuleInstance(const Rule& rule, DType dtype, Shape shape, Random& random, RuleBuilder& builder)
      : rule_(rule), dtype_(dtype), shape_(std::move(shape)), random_(random), builder_(builder) {}

  // The root; null where the parts do not fit each other.
  Value* Build() { return BuildPattern(rule_.from); }

 private:
  bool IsConditioned(std::string_view condition, const std::string& variable) const;
  Value* BuildPattern(const Pattern& pattern);
  Value* BuildVariable(const Pattern& pattern);
  std::optional<Attribute> MakeAttribute(const Pattern& pattern, const AttributeInfo& info,
                                         const Value& operand);
  Attribute FromExpression(const AttributeExpression& expression, const AttributeInfo& info,
                           const Value& operand);
  Attribute AnyAttribute(const AttributeInfo& info, const Value& operand);

  const Rule& rule_;
  const DType dtype_;
  const Shape shape_;
  Random& random_;
  RuleBuilder& builder_;
  std::map<std::string, Value*> values_;
  std::map<std::string, Attribute> attributes_;
};

}  // namespace attune

#endif  // ATTUNE_OPT_TESTING_RULE_INSTANCE_H_
