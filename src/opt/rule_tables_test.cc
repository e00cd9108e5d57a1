// Every rule of every table against the reference: graphs are made from a rule's left side, the rule is
// applied, and both graphs must compute the same.
#include "opt/rule_tables.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/random.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "opt/apply_rules.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

constexpr int kInstances = 60;

Tensor RandomTensor(DType dtype, const Shape& shape, Random& random) {
  Tensor tensor(dtype, shape);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    tensor.SetDouble(i, IsFloat(dtype) ? 2 * random.Normal() : static_cast<double>(random.Integer(-9, 9)));
  }
  return tensor;
}

// Makes a graph that a pattern fits, at random. Where the parts do not fit each other there is none.
class Instance {
 public:
  Instance(const Rule& rule, uint64_t seed) : rule_(rule), random_(seed) {
    static constexpr DType kTypes[] = {DType::kF32, DType::kF32, DType::kI32, DType::kBool};
    dtype_ = kTypes[random_.Integer(0, 3)];
    // Attention has four dimensions; square matrices fit each other however they are transposed.
    const int64_t rank = random_.Integer(0, 1) == 0 ? 4 : random_.Integer(1, 3);
    for (int64_t i = 0; i < rank; ++i) shape_.push_back(random_.Integer(1, 4));
    if (rank >= 2 && random_.Integer(0, 1) == 0) shape_[rank - 1] = shape_[rank - 2];
  }

  // The root, or nullptr.
  Node* Build(Graph& graph) {
    Value* root = BuildPattern(graph, rule_.from);
    if (root == nullptr) return nullptr;
    graph.AddOutput("out", root);
    return root->producer();
  }

  std::vector<Tensor> Inputs(const Graph& graph) {
    std::vector<Tensor> inputs;
    for (const auto& input : graph.inputs()) {
      inputs.push_back(RandomTensor(input->type().dtype, input->type().shape(), random_));
    }
    return inputs;
  }

 private:
  bool IsConditioned(std::string_view condition, const std::string& variable) const {
    return std::any_of(rule_.conditions.begin(), rule_.conditions.end(), [&](const Condition& c) {
      return c.name == condition &&
             std::find(c.arguments.begin(), c.arguments.end(), variable) != c.arguments.end();
    });
  }

  Value* BuildPattern(Graph& graph, const Pattern& pattern) {
    switch (pattern.kind) {
      case Pattern::Kind::kNumber:
        return graph.AddConstant(Tensor::Scalar(dtype_, pattern.number));
      case Pattern::Kind::kVariable:
        return BuildVariable(graph, pattern);
      case Pattern::Kind::kEither:
        return BuildPattern(graph, pattern.operands[random_.Integer(0, std::ssize(pattern.operands) - 1)]);
      case Pattern::Kind::kOperator:
        break;
    }
    std::vector<Value*> operands;
    for (const Pattern& operand : pattern.operands) {
      operands.push_back(BuildPattern(graph, operand));
      if (operands.back() == nullptr) return nullptr;
    }
    Attributes attributes;
    for (const AttributeInfo& info : GetOpInfo(pattern.op).attributes) {
      if (std::optional<Attribute> value = MakeAttribute(pattern, info, *operands[0]))
        attributes.Set(std::string(info.name), *value);
    }
    const absl::StatusOr<Node*> node = graph.Add(pattern.op, operands, attributes);
    return node.ok() ? (*node)->output() : nullptr;
  }

  Value* BuildVariable(Graph& graph, const Pattern& pattern) {
    Value*& value = values_[pattern.variable];
    if (value != nullptr) return value;
    if (pattern.IsScalarVariable()) {
      // Within a small positive range: as an epsilon, a scale or a limit.
      Tensor scalar = Tensor::Scalar(dtype_, dtype_ == DType::kF32 ? 0.25 + random_.Uniform() : 3);
      if (IsConditioned("ordered", pattern.variable))
        scalar = Tensor::Scalar(dtype_, pattern.variable == "s1" ? -0.5 : 0.5);
      return value = graph.AddConstant(scalar);
    }
    if (pattern.IsConstantVariable()) {
      const Shape shapes[] = {shape_, {shape_.back()}, {}};
      return value = graph.AddConstant(RandomTensor(dtype_, shapes[random_.Integer(0, 2)], random_));
    }
    return value = graph.AddInput(pattern.variable, TensorType(dtype_, shape_));
  }

  // What the pattern says, or anything that is likely to fit; nothing for an absent attribute.
  std::optional<Attribute> MakeAttribute(const Pattern& pattern, const AttributeInfo& info,
                                         const Value& operand) {
    for (const auto& [name, expression] : pattern.attributes) {
      if (name == info.name) return FromExpression(expression, info, operand);
    }
    return info.required ? std::optional<Attribute>(AnyAttribute(info, operand)) : std::nullopt;
  }

  Attribute FromExpression(const AttributeExpression& expression, const AttributeInfo& info,
                           const Value& operand) {
    switch (expression.kind) {
      case AttributeExpression::Kind::kNumber:
        if (info.kind == AttributeKind::kInt) return static_cast<int64_t>(expression.number);
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

  static Attribute SwapLast(int rank) {
    Ints perm(static_cast<size_t>(rank));
    for (int i = 0; i < rank; ++i) perm[i] = i;
    if (rank >= 2) std::swap(perm[rank - 1], perm[rank - 2]);
    return perm;
  }

  Attribute AnyAttribute(const AttributeInfo& info, const Value& operand) {
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

  const Rule& rule_;
  Random random_;
  DType dtype_;
  Shape shape_;
  std::map<std::string, Value*> values_;
  std::map<std::string, Attribute> attributes_;
};

PassContext ReferenceContext() {
  PassContext context;
  context.evaluate = EvaluateNode;
  return context;
}

// Whether the rule fitted.
bool TryRule(const Rule& rule, uint64_t seed) {
  Instance instance(rule, seed);
  Graph graph("rule");
  if (instance.Build(graph) == nullptr || !Verify(graph).ok()) return false;
  const std::unique_ptr<Graph> rewritten = graph.Clone();
  if (!ApplyRule(*rewritten, rewritten->nodes().back().get(), rule, ReferenceContext())) return false;
  EXPECT_TRUE(Verify(*rewritten).ok()) << Verify(*rewritten) << "\n" << Print(*rewritten);

  const std::vector<Tensor> inputs = instance.Inputs(graph);
  const auto expected = Interpreter().Run(graph, inputs);
  const auto actual = Interpreter().Run(*rewritten, inputs);
  EXPECT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
  if (!expected.ok() || !actual.ok()) return false;
  Tolerance tolerance = OperatorTolerance((*expected)[0].dtype());
  tolerance.absolute *= 10;  // for several operators, and cancellation among them
  tolerance.relative *= 10;
  const Comparison comparison = Compare((*expected)[0], (*actual)[0], tolerance);
  EXPECT_TRUE(comparison.ok()) << comparison.ToString() << "\n"
                               << Print(graph) << "\nbecomes\n"
                               << Print(*rewritten);
  return true;
}

void TryAll(std::span<const Rule> rules) {
  for (const Rule& rule : rules) {
    SCOPED_TRACE(rule.text);
    int fitted = 0;
    for (int i = 0; i < kInstances * 10 && fitted < kInstances; ++i)
      fitted += TryRule(rule, static_cast<uint64_t>(i));
    EXPECT_GE(fitted, 5);
  }
}

TEST(RuleTables, AWrongRuleIsFound) {
  const Rule wrong = *ParseRule("sub(x, y) => sub(y, x)");
  EXPECT_NONFATAL_FAILURE(TryRule(wrong, 1), "becomes");
}

TEST(RuleTables, Algebra) { TryAll(AlgebraRules()); }
TEST(RuleTables, Activations) { TryAll(ActivationRules()); }
TEST(RuleTables, Normalizations) { TryAll(NormalizationRules()); }
TEST(RuleTables, Attention) { TryAll(AttentionRules()); }

}  // namespace
}  // namespace attune
