// Every rule of every table against the reference: graphs are made from a rule's left side, the rule is
// applied, and both graphs must compute the same.
#include "opt/rule_tables.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "opt/apply_rules.h"
#include "opt/testing/rule_instance.h"
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

class GraphBuilder : public RuleBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : graph_(graph) {}
  Value* Operand(const TensorType& type) override {
    return graph_.AddInput(absl::StrCat("x", graph_.inputs().size()), type);
  }
  Value* Constant(Tensor data) override { return graph_.AddConstant(std::move(data)); }
  Value* Add(Op op, std::vector<Value*> operands, Attributes attributes) override {
    const absl::StatusOr<Node*> node = graph_.Add(op, std::move(operands), std::move(attributes));
    return node.ok() ? (*node)->output() : nullptr;
  }

 private:
  Graph& graph_;
};

// The root of a graph that `rule` may fit, or nullptr.
Value* BuildInstance(Graph& graph, const Rule& rule, Random& random) {
  static constexpr DType kTypes[] = {DType::kF32, DType::kF32, DType::kI32, DType::kBool};
  const DType dtype = kTypes[random.Integer(0, 3)];
  // Attention has four dimensions; square matrices fit each other however they are transposed.
  const int64_t rank = random.Integer(0, 1) == 0 ? 4 : random.Integer(1, 3);
  Shape shape;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(random.Integer(1, 4));
  if (rank >= 2 && random.Integer(0, 1) == 0) shape[rank - 1] = shape[rank - 2];
  GraphBuilder builder(graph);
  return RuleInstance(rule, dtype, std::move(shape), random, builder).Build();
}

PassContext ReferenceContext() {
  PassContext context;
  context.evaluate = EvaluateNode;
  return context;
}

// Whether the rule fitted.
bool TryRule(const Rule& rule, uint64_t seed) {
  Random random(seed);
  Graph graph("rule");
  Value* root = BuildInstance(graph, rule, random);
  if (root == nullptr) return false;
  graph.AddOutput("out", root);
  if (!Verify(graph).ok()) return false;
  const std::unique_ptr<Graph> rewritten = graph.Clone();
  if (!ApplyRule(*rewritten, rewritten->nodes().back().get(), rule, ReferenceContext())) return false;
  EXPECT_TRUE(Verify(*rewritten).ok()) << Verify(*rewritten) << "\n" << Print(*rewritten);

  std::vector<Tensor> inputs;
  for (const auto& input : graph.inputs())
    inputs.push_back(RandomTensor(input->type().dtype, input->type().shape(), random));
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
