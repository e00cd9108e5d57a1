// Branches, loops, functions and lists of tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "import/tensorflow/testing/model_builder.h"

namespace attune::tensorflow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

int CountNodes(const Graph& graph, Op op) {
  return static_cast<int>(
      std::ranges::count_if(graph.nodes(), [op](const auto& node) { return node->op() == op; }));
}

// y = training ? -x : |x|, with a constant that belongs to only one branch.
GraphBuilder BranchBySwitch() {
  GraphBuilder model;
  model.Placeholder("x", {2});
  model.Floats("default", {}, {0});
  model.Add("Cast", "default_bool", {"default"}).Type("DstT", DT_BOOL);
  model.Add("PlaceholderWithDefault", "training", {"default_bool"});
  model.Add("Switch", "side", {"x", "training"});
  model.Add("Neg", "then", {"side:1"});
  model.Add("Abs", "else", {"side"});
  model.Add("Merge", "merged", {"else", "then"});
  model.Add("Switch", "pivot_switch", {"training", "training"});
  model.Add("Identity", "pivot_true", {"pivot_switch:1"});
  model.Add("Identity", "pivot_false", {"pivot_switch:0"});
  for (const bool side : {false, true}) {
    model.Floats(side ? "ten" : "twenty", {}, {side ? 10.0F : 20.0F});
    NodeDef* node = model.graph.mutable_node(model.graph.node_size() - 1);
    node->add_input(side ? "^pivot_true" : "^pivot_false");
  }
  model.Add("Merge", "number", {"twenty", "ten"});
  model.Add("Add", "y", {"merged", "number"});
  return model;
}

TEST(TensorflowControl, SwitchAndMergeFoldWithAKnownCondition) {
  EXPECT_THAT(BranchBySwitch().Run({F32({2}, {-1, 3})}), ElementsAre(21, 23));
}

// Doubles x while i < 3, with control flow operators; the limit in the condition is loop-invariant.
GraphBuilder LoopOfOperators(bool known) {
  GraphBuilder model;
  model.Placeholder("x", {1});
  model.Integer("zero", 0);
  if (known) {
    model.Integer("limit", 3);
  } else {
    model.Placeholder("limit", {}, DT_INT32);
  }
  const auto enter = [&](const std::string& name, const std::string& input, bool constant) {
    model.Add("Enter", name, {input}).String("frame_name", "loop").Bool("is_constant", constant);
  };
  enter("enter_i", "zero", false);
  enter("enter_x", "x", false);
  enter("enter_limit", "limit", true);
  model.Add("Merge", "merge_i", {"enter_i", "next_i"});
  model.Add("Merge", "merge_x", {"enter_x", "next_x"});
  model.Add("Less", "less", {"merge_i", "enter_limit"});
  model.Add("LoopCond", "condition", {"less"});
  model.Add("Switch", "switch_i", {"merge_i", "condition"});
  model.Add("Switch", "switch_x", {"merge_x", "condition"});
  model.Add("Identity", "step", {"switch_i:1"});
  model.Integer("one", 1);
  model.graph.mutable_node(model.graph.node_size() - 1)->add_input("^step");
  model.Add("Add", "more", {"step", "one"});
  model.Add("NextIteration", "next_i", {"more"});
  model.Add("Add", "double", {"switch_x:1", "switch_x:1"});
  model.Add("NextIteration", "next_x", {"double"});
  model.Add("Exit", "exit_x", {"switch_x"});
  model.Add("Identity", "y", {"exit_x"});
  return model;
}

TEST(TensorflowControl, LoopsOfOperatorsUnroll) {
  const GraphBuilder model = LoopOfOperators(true);
  EXPECT_THAT(model.Run({F32({1}, {5})}), ElementsAre(40));
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CountNodes(**graph, Op::kAdd), 3);
}

TEST(TensorflowControl, LoopsOfOperatorsWhoseLengthIsDataAreKept) {
  const GraphBuilder model = LoopOfOperators(false);
  EXPECT_THAT(model.Run({F32({1}, {5}), Tensor::Scalar(DType::kI32, 4)}), ElementsAre(80));
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CountNodes(**graph, Op::kLoop), 1);
}

TEST(TensorflowControl, AnExitWithoutALoopIsAnError) {
  GraphBuilder model;
  model.Placeholder("x", {1});
  model.Add("Exit", "y", {"x"});
  model.Add("Neg", "end", {"y"});
  EXPECT_THAT(model.Error(), HasSubstr("leaves no loop"));
}

// The running sums of x's rows, collected in a list, as in a recurrent layer.
TEST(TensorflowControl, LoopsOverListsUnroll) {
  GraphBuilder model;
  model.Placeholder("x", {3, 2});
  model.Integers("row", {2});
  model.Integer("three", 3);
  model.Integer("zero", 0);
  model.Floats("start", {2}, {0, 0});
  model.Add("TensorListFromTensor", "rows", {"x", "row"});
  model.Add("TensorListReserve", "sums", {"row", "three"}).Type("element_dtype", DT_FLOAT);
  FunctionBuilder condition(model.graph, "condition", {"i", "limit", "sum", "in", "out"});
  condition.Add("Less", "less", {"i", "limit"});
  condition.Return("less:z:0");
  FunctionBuilder body(model.graph, "body", {"i", "limit", "sum", "in", "out"});
  body.Integer("one", 1);
  FillIntegers(body.AddNode(), "row", {2});
  body.Add("AddV2", "next", {"i", "one:output:0"});
  body.Add("TensorListGetItem", "item", {"in", "i", "row:output:0"}).Type("element_dtype", DT_FLOAT);
  body.Add("AddV2", "total", {"sum", "item:item:0"});
  body.Add("TensorListSetItem", "set", {"out", "i", "total:z:0"});
  for (const char* result : {"next:z:0", "limit", "total:z:0", "in", "set:output_handle:0"})
    body.Return(result);
  model.Add("While", "loop", {"zero", "three", "start", "rows", "sums"})
      .Function("cond", "condition")
      .Function("body", "body");
  model.Add("TensorListStack", "y", {"loop:4", "row"}).Type("element_dtype", DT_FLOAT);
  EXPECT_THAT(model.Run({F32({3, 2}, {1, 2, 10, 20, 100, 200})}), ElementsAre(1, 2, 11, 22, 111, 222));
}

TEST(TensorflowControl, TensorArraysAreTheirFlow) {
  GraphBuilder model;
  model.Placeholder("x", {2, 2});
  model.Integer("size", 2);
  model.Integers("order", {1, 0});
  model.Integer("zero", 0);
  model.Add("TensorArrayV3", "array", {"size"}).Type("dtype", DT_FLOAT);
  model.Add("TensorArrayScatterV3", "scatter", {"array", "order", "x", "array:1"});
  model.Add("TensorArrayReadV3", "y", {"array", "zero", "scatter"}).Type("dtype", DT_FLOAT);
  EXPECT_THAT(model.Run({F32({2, 2}, {1, 2, 3, 4})}), ElementsAre(3, 4));
  model.graph.mutable_node(3)->mutable_attr()->at("value").mutable_tensor()->set_int_val(0, 7);
  EXPECT_THAT(model.Error(), HasSubstr("its index is 7, the list has 2 items"));
}

GraphBuilder IfOnInput() {
  GraphBuilder model;
  model.Placeholder("x", {2});
  model.Placeholder("c", {}, DT_BOOL);
  for (const std::string branch : {"then", "else"}) {
    FunctionBuilder function(model.graph, branch, {"argument"});
    function.Add(branch == "then" ? "Neg" : "Abs", "result", {"argument"});
    function.Return("result:y:0");
  }
  model.Add("If", "y", {"c", "x"}).Function("then_branch", "then").Function("else_branch", "else");
  return model;
}

TEST(TensorflowControl, BranchesOnDataAreKept) {
  const GraphBuilder model = IfOnInput();
  EXPECT_THAT(model.Run({F32({2}, {-1, 2}), Tensor::Scalar(DType::kBool, 1)}), ElementsAre(1, -2));
  EXPECT_THAT(model.Run({F32({2}, {-1, 2}), Tensor::Scalar(DType::kBool, 0)}), ElementsAre(1, 2));
}

// The branches disagree about the shape, so the condition must be known.
TEST(TensorflowControl, BranchesThatSetShapesNeedAKnownCondition) {
  GraphBuilder model = IfOnInput();
  FunctionDef* then = model.graph.mutable_library()->mutable_function(0);
  then->clear_node_def();
  FillIntegers(then->add_node_def(), "axis", {0}, true);
  FillNode(then->add_node_def(), "ExpandDims", "result", {"argument", "axis:output:0"});
  EXPECT_THAT(model.Error(), HasSubstr("not supported: If y"));
  ImportOptions options;
  options.input_values["c"] = Tensor::Scalar(DType::kBool, 1);
  const auto graph = model.Import(options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].value->type().shape(), Shape({1, 2}));
  EXPECT_EQ((*graph)->inputs().size(), 1U);
}

TEST(TensorflowControl, ADeadNodeOfATypeThatIsUnknownDoesNotMatter) {
  GraphBuilder model = BranchBySwitch();
  for (NodeDef& node : *model.graph.mutable_node()) {
    if (node.name() == "then") node.set_op("NoSuchOperator");
  }
  EXPECT_THAT(model.Run({F32({2}, {-1, 3})}), ElementsAre(21, 23));
}

TEST(TensorflowControl, RecursiveFunctionsEnd) {
  GraphBuilder model;
  model.Placeholder("x", {2});
  FunctionBuilder function(model.graph, "forever", {"argument"});
  function.Add("PartitionedCall", "again", {"argument"}).Function("f", "forever");
  function.Return("again:output:0");
  model.Add("PartitionedCall", "y", {"x"}).Function("f", "forever");
  EXPECT_THAT(model.Error(), HasSubstr("nest more than"));
}

// Each function calls the next one twice: 2^40 nodes.
TEST(TensorflowControl, CallsThatMultiplyAreRefused) {
  GraphBuilder model;
  model.Placeholder("x", {2});
  for (int i = 0; i < 40; ++i) {
    FunctionBuilder function(model.graph, "f" + std::to_string(i), {"argument"});
    const std::string next = "f" + std::to_string(i + 1);
    function.Add("PartitionedCall", "once", {"argument"}).Function("f", next);
    function.Add("PartitionedCall", "twice", {"once:output:0"}).Function("f", next);
    function.Return("twice:output:0");
  }
  FunctionBuilder last(model.graph, "f40", {"argument"});
  last.Add("Neg", "result", {"argument"});
  last.Return("result:y:0");
  model.Add("PartitionedCall", "y", {"x"}).Function("f", "f0");
  EXPECT_THAT(model.Error(), HasSubstr("unrolls to too many operators"));
}

TEST(TensorflowControl, CallsOfUnknownFunctionsAreReported) {
  GraphBuilder model;
  model.Placeholder("x", {2});
  model.Add("PartitionedCall", "y", {"x"}).Function("f", "nowhere");
  EXPECT_THAT(model.Error(), HasSubstr("not supported: PartitionedCall y: it calls the function 'nowhere'"));
}

TEST(TensorflowControl, ListsOfAnySizeAreRefused) {
  GraphBuilder model;
  model.Placeholder("x", {2});
  model.Integers("row", {2});
  model.Integer("count", INT32_MAX);
  model.Add("TensorListReserve", "list", {"row", "count"}).Type("element_dtype", DT_FLOAT);
  model.Add("TensorListStack", "y", {"list", "row"}).Type("element_dtype", DT_FLOAT);
  EXPECT_THAT(model.Error(), HasSubstr("a list of 2147483647 items"));
}

}  // namespace
}  // namespace attune::tensorflow
