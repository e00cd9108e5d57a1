#include "graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const TensorType kVector(DType::kF32, Shape{4});

// The operators of `graph`, in order.
std::vector<std::string> Ops(const Graph& graph) {
  std::vector<std::string> ops;
  for (const auto& node : graph.nodes()) ops.emplace_back(OpName(node->op()));
  return ops;
}

TEST(Graph, AddInfersTypesAndRecordsUses) {
  Graph graph("g");
  Value* x = graph.AddInput("x", kVector);
  const auto sum = graph.Add(Op::kAdd, {x, x}, {}, "sum");
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ((*sum)->output()->type(), kVector);
  EXPECT_EQ((*sum)->output()->producer(), *sum);
  EXPECT_TRUE(x->is_input());
  EXPECT_THAT(x->users(), ElementsAre(*sum, *sum));
  graph.AddOutput("y", (*sum)->output());
  graph.AddOutput("x", x);
  EXPECT_EQ(graph.NumUses(x), 3);
  EXPECT_TRUE(graph.IsOutput(x));
  EXPECT_EQ(Verify(graph), absl::OkStatus());
}

TEST(Graph, AFailedAddLeavesTheGraphAsItWas) {
  Graph graph;
  Value* x = graph.AddInput("x", kVector);
  Value* y = graph.AddInput("y", {DType::kF32, Shape{3}});
  const auto sum = graph.Add(Op::kAdd, {x, y});
  EXPECT_FALSE(sum.ok());
  EXPECT_THAT(std::string(sum.status().message()), HasSubstr("add: "));
  EXPECT_THAT(graph.nodes(), IsEmpty());
  EXPECT_THAT(x->users(), IsEmpty());
}

TEST(Graph, AddChecksWhatTheTableSays) {
  Graph graph;
  Value* x = graph.AddInput("x", kVector);
  EXPECT_EQ(graph.Add(Op::kNeg, {}).status().message(), "neg: has 0 inputs, needs 1");
  EXPECT_EQ(graph.Add(Op::kNeg, {x}, {{"axis", int64_t{0}}}).status().message(),
            "neg: has no attribute 'axis'");
  EXPECT_EQ(graph.Add(Op::kConcat, {x, nullptr, x}, {{"axis", int64_t{0}}}).status().message(),
            "concat: input 1 is required but absent");
  EXPECT_EQ(graph.Add(Op::kFused, {}).status().message(), "fused: has 0 regions, needs 1");
}

TEST(Graph, AddDropsTrailingAbsentInputs) {
  Graph graph;
  Value* x = graph.AddInput("x", kVector);
  const auto norm =
      graph.Add(Op::kLayerNorm, {x, nullptr, nullptr}, {{"axis", int64_t{0}}, {"epsilon", 1e-5}});
  ASSERT_TRUE(norm.ok()) << norm.status();
  EXPECT_EQ((*norm)->num_inputs(), 1);
  EXPECT_EQ((*norm)->input(2), nullptr);
}

TEST(Graph, CountsTheOutputsOfMaxPoolAsAsked) {
  Graph graph;
  Value* x = graph.AddInput("x", {DType::kF32, Shape{1, 1, 4, 4}});
  const Attributes window = {{"kernel", Ints{2, 2}}};
  const auto one = graph.Add(Op::kMaxPool, {x}, window);
  const auto two = graph.Add(Op::kMaxPool, {x}, window, "", nullptr, {}, 2);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ((*one)->num_outputs(), 1);
  EXPECT_EQ((*two)->num_outputs(), 2);
  EXPECT_EQ((*two)->output(1)->type().dtype, DType::kI64);
  EXPECT_EQ(graph.Add(Op::kMaxPool, {x}, window, "", nullptr, {}, 3).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Graph, InsertsAndErases) {
  Graph graph;
  Value* x = graph.AddInput("x", kVector);
  Value* a = graph.Make(Op::kNeg, {x});
  Value* b = graph.Make(Op::kAbs, {x});
  Value* c = graph.Make(Op::kExp, {x}, {}, b->producer());
  EXPECT_THAT(Ops(graph), ElementsAre("neg", "exp", "abs"));
  graph.Erase(c->producer());
  EXPECT_THAT(Ops(graph), ElementsAre("neg", "abs"));
  EXPECT_THAT(x->users(), ElementsAre(a->producer(), b->producer()));
}

TEST(Graph, ReplacesAllUses) {
  Graph graph;
  Value* x = graph.AddInput("x", kVector);
  Value* y = graph.AddInput("y", kVector);
  Value* sum = graph.Make(Op::kAdd, {x, x});
  Value* product = graph.Make(Op::kMul, {x, y});
  graph.AddOutput("x", x);
  graph.AddOutput("sum", sum);
  graph.AddOutput("product", product);
  graph.ReplaceAllUses(x, y);
  EXPECT_THAT(x->users(), IsEmpty());
  EXPECT_EQ(graph.outputs()[0].value, y);
  EXPECT_THAT(sum->producer()->inputs(), ElementsAre(y, y));
  EXPECT_EQ(graph.NumUses(y), 5);
  EXPECT_EQ(Verify(graph), absl::OkStatus());
  graph.EraseInput(0);
  EXPECT_EQ(graph.inputs().size(), 1u);
  EXPECT_EQ(Verify(graph), absl::OkStatus());
}

TEST(Graph, SetInputMovesTheUse) {
  Graph graph;
  Value* x = graph.AddInput("x", kVector);
  Value* y = graph.AddInput("y", kVector);
  Node* sum = graph.Make(Op::kAdd, {x, x})->producer();
  sum->SetInput(1, y);
  EXPECT_THAT(x->users(), ElementsAre(sum));
  EXPECT_THAT(y->users(), ElementsAre(sum));
  EXPECT_EQ(Verify(graph), absl::OkStatus());
}

TEST(Graph, SetInputGivesAndTakesOptionalInputs) {
  Graph graph;
  Value* x = graph.AddInput("x", kVector);
  const auto norm = graph.Add(Op::kLayerNorm, {x}, {{"axis", int64_t{0}}, {"epsilon", 1e-5}});
  ASSERT_TRUE(norm.ok()) << norm.status();
  (*norm)->SetInput(2, x);
  EXPECT_THAT((*norm)->inputs(), ElementsAre(x, nullptr, x));
  EXPECT_EQ(Verify(graph), absl::OkStatus());
  (*norm)->SetInput(2, nullptr);
  EXPECT_THAT((*norm)->inputs(), ElementsAre(x));
  EXPECT_THAT(x->users(), ElementsAre(*norm));
  (*norm)->SetInput(2, nullptr);
  EXPECT_EQ((*norm)->num_inputs(), 1);
}

TEST(Graph, SizesThatDependOnDataGetUnusedSymbols) {
  Graph graph;
  Value* x = graph.AddInput("x", {DType::kF32, std::vector<Dim>{4}});
  Value* y = graph.AddInput("y", {DType::kF32, std::vector<Dim>{Dim("n1", 4)}});
  EXPECT_EQ(ToString(graph.Make(Op::kNonZero, {x})->type()), "i64[1,n0<=4]");
  EXPECT_EQ(ToString(graph.Make(Op::kNonZero, {x})->type()), "i64[1,n2<=4]");
  EXPECT_EQ(ToString(graph.Make(Op::kNeg, {y})->type()), "f32[n1<=4]");
  EXPECT_EQ(Verify(graph), absl::OkStatus());
}

TEST(Graph, ConstantsAreSeenThroughTheirValue) {
  Graph graph;
  const Value* c = graph.AddConstant(Tensor::Scalar(DType::kI8, 3), "three");
  EXPECT_EQ(c->type(), TensorType(DType::kI8, Shape{}));
  EXPECT_EQ(c->producer()->name(), "three");
  ASSERT_NE(c->constant(), nullptr);
  EXPECT_EQ(c->constant()->ToInt(0), 3);
  EXPECT_EQ(graph.AddInput("x", kVector)->constant(), nullptr);
}

TEST(Graph, ACloneIsTheSameAndIndependent) {
  const auto graph = ParseGraph(R"(graph @g(%x: f32[4], %c: bool[]) {
    %m = mul(%x, %x) @"square" : f32[4]
    %f = fused(%m) { graph(%a: f32[4]) { %b = neg(%a) : f32[4] return "": %b } } : f32[4]
    return "y": %f, "x": %x
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string text = Print(**graph);
  const std::unique_ptr<Graph> clone = (*graph)->Clone();
  EXPECT_EQ(Print(*clone), text);
  EXPECT_EQ(Verify(*clone), absl::OkStatus());
  clone->Erase(clone->Make(Op::kNeg, {clone->inputs()[0].get()})->producer());
  clone->nodes().back()->region().set_name("changed");
  clone->SetOutput(0, clone->inputs()[0].get());
  clone->Erase(clone->nodes().back().get());
  EXPECT_EQ(Print(**graph), text);
  EXPECT_EQ(Verify(**graph), absl::OkStatus());
}

TEST(Graph, AMovedGraphKeepsItsNodes) {
  Graph first("g");
  Value* x = first.AddInput("x", kVector);
  Value* a = first.Make(Op::kNeg, {x});
  Graph second = std::move(first);
  second.Make(Op::kAbs, {x}, {}, a->producer());
  EXPECT_THAT(Ops(second), ElementsAre("abs", "neg"));
  second.Erase(a->producer());
  EXPECT_EQ(Verify(second), absl::OkStatus());
}

TEST(GraphDeathTest, BrokenPromisesAbortWithTheirText) {
  Graph graph;
  Value* x = graph.AddInput("x", kVector);
  Value* a = graph.Make(Op::kNeg, {x});
  graph.AddOutput("y", a);
  EXPECT_DEATH(graph.Make(Op::kAdd, {x}), "cannot make a node: add: has 1 inputs, needs 2");
  EXPECT_DEATH(graph.Erase(a->producer()), "erasing the neg '', which is used");
  EXPECT_DEATH(graph.EraseInput(0), "erasing the graph input 'x', which is used");
  EXPECT_DEATH(a->producer()->attrs().Int("axis"), "attribute 'axis' is missing");
}

}  // namespace
}  // namespace attune
