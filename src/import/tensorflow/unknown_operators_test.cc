#include "import/tensorflow/unknown_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "import/tensorflow/testing/model_builder.h"

namespace attune::tensorflow {
namespace {

using ::testing::HasSubstr;

// The error at an open shape and the error at a shape, which must be the same.
std::string ErrorAtAnyShape(const GraphBuilder& model) {
  const absl::Status open = model.Import().status();
  EXPECT_TRUE(absl::IsUnimplemented(open)) << open;
  EXPECT_EQ(open, model.Import(WithShape("x", {2})).status());
  return std::string(open.message());
}

TEST(UnknownOperators, AreReportedBeforeShapesAreAskedFor) {
  GraphBuilder model;
  model.Placeholder("x", {-1});
  model.Add("NoSuchOperator", "first", {"x"});
  model.Add("Relu", "between", {"first"});
  model.Add("Frobnicate", "second", {"between"});
  EXPECT_EQ(ErrorAtAnyShape(model),
            "not supported: NoSuchOperator first: no such operator is known\n"
            "not supported: Frobnicate second: no such operator is known");
}

TEST(UnknownOperators, FunctionsThatAreCalledAreLookedAt) {
  GraphBuilder model;
  model.Placeholder("x", {-1});
  FunctionBuilder inner(model.graph, "inner", {"argument"});
  inner.Add("NoSuchOperator", "node", {"argument"});
  inner.Return("node:y:0");
  FunctionBuilder outer(model.graph, "outer", {"argument"});
  outer.Add("inner", "direct", {"argument"});
  outer.Return("direct:result0:0");
  model.Add("StatefulPartitionedCall", "y", {"x"}).Function("f", "outer");
  EXPECT_EQ(ErrorAtAnyShape(model), "not supported: NoSuchOperator y/direct/node: no such operator is known");
}

TEST(UnknownOperators, TheConditionOfALoopIsLookedAt) {
  GraphBuilder model;
  model.Placeholder("x", {-1});
  FunctionBuilder condition(model.graph, "condition", {"argument"});
  condition.Add("NoSuchOperator", "node", {"argument"});
  condition.Return("node:y:0");
  FunctionBuilder body(model.graph, "body", {"argument"});
  body.Return("argument");
  model.Add("While", "y", {"x"}).Function("cond", "condition").Function("body", "body");
  EXPECT_EQ(ErrorAtAnyShape(model), "not supported: NoSuchOperator y/node: no such operator is known");
}

TEST(UnknownOperators, TypesOfInputsAreReported) {
  GraphBuilder model;
  model.Placeholder("x", {-1}, DT_STRING);
  model.Add("Identity", "y", {"x"});
  EXPECT_THAT(ErrorAtAnyShape(model), HasSubstr("not supported: Placeholder x: its type is "));
}

// An import may not take a branch; so an operator in it is no reason to refuse the model.
TEST(UnknownOperators, BranchesAreNotLookedAt) {
  GraphBuilder by_switch;
  by_switch.Placeholder("x", {-1});
  by_switch.Floats("zero", {}, {0});
  by_switch.Add("Cast", "training", {"zero"}).Type("DstT", DT_BOOL);
  by_switch.Add("Switch", "side", {"x", "training"});
  by_switch.Add("NoSuchOperator", "then", {"side:1"});
  by_switch.Add("Abs", "else", {"side"});
  by_switch.Add("Merge", "merged", {"else", "then"});
  by_switch.Add("Neg", "y", {"merged"});

  GraphBuilder by_function;
  by_function.Placeholder("x", {-1});
  by_function.Integer("zero", 0);
  for (const std::string branch : {"then", "else"}) {
    FunctionBuilder function(by_function.graph, branch, {"argument"});
    function.Add(branch == "then" ? "NoSuchOperator" : "Abs", "node", {"argument"});
    function.Return("node:y:0");
  }
  by_function.Add("If", "y", {"zero", "x"}).Function("then_branch", "then").Function("else_branch", "else");

  for (const GraphBuilder* model : {&by_switch, &by_function}) {
    EXPECT_THAT(model->Error(), HasSubstr("give the shapes"));
    EXPECT_TRUE(model->Import(WithShape("x", {2})).ok());
  }
}

TEST(UnknownOperators, NodesBehindAnInputAreNotLookedAt) {
  GraphBuilder model;
  model.Add("NoSuchOperator", "unused", {});
  model.Placeholder("x", {-1});
  model.graph.mutable_node(1)->add_input("^unused");
  model.Add("Abs", "y", {"x"});
  EXPECT_THAT(model.Error(), HasSubstr("give the shapes"));
}

TEST(UnknownOperators, FunctionsThatCallThemselvesEnd) {
  GraphBuilder model;
  model.Placeholder("x", {-1});
  FunctionBuilder function(model.graph, "forever", {"argument"});
  function.Add("PartitionedCall", "again", {"argument"}).Function("f", "forever");
  function.Return("again:output:0");
  model.Add("PartitionedCall", "y", {"x"}).Function("f", "forever");
  EXPECT_THAT(model.Error(), HasSubstr("nest more than"));
}

}  // namespace
}  // namespace attune::tensorflow
