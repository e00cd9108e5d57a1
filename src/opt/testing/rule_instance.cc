#include "opt/testing/rule_instance.h"

#include <algorithm>
#include <utility>

#include "opt/rewrite.h"

namespace attune {
namespace {

Tensor RandomTensor(DType dtype, const Shape& shape, Random& random) {
  Tensor tensor(dtype, shape);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    tensor.SetDouble(i, IsFloat(dtype) ? 2 * random.Normal() : static_cast<double>(random.Integer(-9, 9)));
  }
  return tensor;
}

Attribute SwapLast(int rank) {
  Ints perm(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) perm[i] = i;
  if (rank >= 2) std::swap(perm[rank - 1], perm[rank - 2]);
  return perm;
}

}  // namespace

bool RuleInstance::IsConditioned(std::string_view condition, const std::string& variable) const {
  return std::any_of(rule_.conditions.begin(), rule_.conditions.end(), [&](const Condition& c) {
    return c.name == condition &&
           std::find(c.arguments.begin(), c.arguments.end(), variable) != c.arguments.end();
  });
}

Value* RuleInstance::BuildPattern(const Pattern& pattern) {
  switch (pattern.kind) {
    case Pattern::Kind::kNumber:
      return builder_.Constant(Tensor::Scalar(dtype_, pattern.number));
    case Pattern::Kind::kVariable:
      return BuildVariable(pattern);
    case Pattern::Kind::kEither:
      return BuildPattern(pattern.operands[random_.Integer(0, std::ssize(pattern.operands) - 1)]);
    case Pattern::Kind::kOperator:
      break;
  }
  std::vector<Value*> operands;
  for (const Pattern& operand : pattern.operands) {
    operands.push_back(BuildPattern(operand));
    if (operands.back() == nullptr) return nullptr;
  }
  Attributes attributes;
  for (const AttributeInfo& info : GetOpInfo(pattern.op).attributes) {
    if (std::optional<Attribute> value = MakeAttribute(pattern, info, *operands[0]))
      attributes.Set(std::string(info.name), *value);
  }
  if (GetOpInfo(pattern.op).commutes && random_.Integer(0, 1) == 0) std::swap(operands[0], operands[1]);
  return builder_.Add(pattern.op, std::move(operands), std::move(attributes));
}

Value* RuleInstance::BuildVariable(const Pattern& pattern) {
  Value*& value = values_[pattern.variable];
  if (value != nullptr) return value;
  if (pattern.IsScalarVariable()) {
    // Within a small positive range: as an epsilon, a scale or a limit.
    Tensor scalar = Tensor::Scalar(dtype_, IsFloat(dtype_) ? 0.25 + random_.Uniform() : 3);
    if (IsConditioned("ordered", pattern.variable))
      scalar = Tensor::Scalar(dtype_, pattern.variable == "s1" ? -0.5 : 0.5);
    return value = builder_.Constant(scalar);
  }
  if (pattern.IsConstantVariable()) {
    const Shape shapes[] = {shape_, {shape_.back()}, {}};
    return value = builder_.Constant(RandomTensor(dtype_, shapes[random_.Integer(0, 2)], random_));
  }
  return value = builder_.Operand(TensorType(dtype_, shape_));
}

// The attribute as the pattern says, or any value that is likely to fit; nothing for an absent attribute.
std::optional<Attribute> RuleInstance::MakeAttribute(const Pattern& pattern, const AttributeInfo& info,
                                                     const Value& operand) {
  for (const auto& [name, expression] : pattern.attributes) {
    if (name == info.name) return FromExpression(expression, info, operand);
  }
  return info.required ? std::optional<Attribute>(AnyAttribute(info, operand)) : std::nullopt;
}

Attribute RuleInstance::FromExpression(const AttributeExpression& expression, const AttributeInfo& info,
                                       const Value& operand) {
  switch (expression.kind) {
    case AttributeExpression::Kind::kNumber:
      if (info.kind == AttributeKind::kInt) return static_cast<int64_t>(expression.number);
      if (info.kind == AttributeKind::kNumber) return ExactNumber(expression.number);
      return expression.number;
    case AttributeExpression::Kind::kString:
      return expression.text;
    case AttributeExpression::Kind::kVariable: {
      const Attribute any = IsConditioned("swaps_last", expression.text) ? SwapLast(operand.type().rank())
                                                                         : AnyAttribute(info, operand);
      return attributes_.emplace(expression.text, any).first->second;
    }
    default: {
      Ints list;
      const AttributeInfo element{"axis", AttributeKind::kInt, true, ""};
      for (const AttributeExpression& argument : expression.arguments) {
        list.push_back(std::get<int64_t>(FromExpression(argument, element, operand)));
      }
      return list;
    }
  }
}

Attribute RuleInstance::AnyAttribute(const AttributeInfo& info, const Value& operand) {
  const Shape shape = operand.type().shape();
  const int64_t rank = std::ssize(shape);
  if (info.name == "perm") {
    Ints perm = std::get<Ints>(SwapLast(static_cast<int>(rank)));
    for (int64_t i = rank - 1; i > 0; --i) std::swap(perm[i], perm[random_.Integer(0, i)]);
    return perm;
  }
  if (info.name == "shape") {  // of a reshape or of a broadcast
    if (random_.Integer(0, 1) == 0) return Ints{operand.type().num_elements()};
    Ints longer = shape;
    longer.insert(longer.begin(), 1);
    return longer;
  }
  if (info.name == "axes") {
    Ints axes;
    for (int64_t axis = random_.Integer(0, rank - 1); axis < rank; ++axis) axes.push_back(axis);
    return axes;
  }
  if (info.name == "axis") return random_.Integer(0, rank - 1);
  if (info.kind == AttributeKind::kInt) return random_.Integer(0, 1);
  return 0.125 + random_.Uniform();
}

}  // namespace attune
