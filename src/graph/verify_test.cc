#include "graph/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// Each test breaks one rule of this graph, in which %r is made by the node "first", and expects its message.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    auto parsed = ParseGraph(R"(graph @g(%x: f32[1,16,4,4], %v: f32[8]) {
      %w = constant() {value = f32[1,16,1,1]<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>} : f32[1,16,1,1]
      %r = relu(%x) @"first" : f32[1,16,4,4]
      %c = conv(%r, %w) : f32[1,1,4,4]
      %s = add(%c, %c) : f32[1,1,4,4]
      %n = non_zero(%v) : i64[1,n<=8]
      %f = fused(%s) {
        graph(%a: f32[1,1,4,4]) {
          %b = neg(%a) : f32[1,1,4,4]
          return "": %b
        }
      } : f32[1,1,4,4]
      return "y": %f, "n": %n
    })");
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    graph_ = *std::move(parsed);
  }

  Node* NodeOf(std::string_view name) {
    for (const auto& node : graph_->nodes()) {
      if (node->output()->name() == name) return node.get();
    }
    ADD_FAILURE() << "no value %" << name;
    return nullptr;
  }
  Value* ValueOf(std::string_view name) { return NodeOf(name)->output(); }

  void ExpectError(std::string_view message) {
    const absl::Status status = Verify(*graph_);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  std::unique_ptr<Graph> graph_;
};

TEST_F(VerifyTest, AcceptsAValidGraph) { EXPECT_EQ(Verify(*graph_), absl::OkStatus()); }

TEST_F(VerifyTest, MissingInput) {
  NodeOf("s")->SetInput(1, nullptr);
  ExpectError("add making %s: has 1 inputs, needs 2");
}

TEST_F(VerifyTest, AbsentRequiredInput) {
  NodeOf("s")->SetInput(0, nullptr);
  ExpectError("add making %s: input 0 is required but absent");
}

TEST_F(VerifyTest, UnknownAttribute) {
  NodeOf("r")->mutable_attrs().Set("alpha", 1.0);
  ExpectError("relu \"first\": has no attribute 'alpha'");
}

TEST_F(VerifyTest, AttributeOfAnotherKind) {
  NodeOf("c")->mutable_attrs().Set("group", 1.0);
  ExpectError("conv making %c: attribute 'group' is of kind float, must be int");
}

TEST_F(VerifyTest, MissingAttribute) {
  NodeOf("w")->mutable_attrs().Remove("value");
  ExpectError("constant making %w: attribute 'value' is missing");
}

TEST_F(VerifyTest, TensorWithoutData) {
  NodeOf("w")->mutable_attrs().Set("value", Tensor());
  ExpectError("constant making %w: attribute 'value' is a tensor without data");
}

TEST_F(VerifyTest, UseBeforeTheValueIsMade) {
  NodeOf("r")->SetInput(0, ValueOf("s"));
  ExpectError("relu \"first\": input 0 is not made before this use");
}

TEST_F(VerifyTest, ValueOfAnotherGraph) {
  const auto other = graph_->Clone();
  NodeOf("r")->SetInput(0, other->inputs()[0].get());
  ExpectError("relu \"first\": input 0 is not made before this use");
}

TEST_F(VerifyTest, OutputOfAnotherGraph) {
  const auto other = graph_->Clone();
  graph_->SetOutput(0, other->inputs()[0].get());
  ExpectError("graph output \"y\" is not a value of the graph");
}

TEST_F(VerifyTest, OutputWithoutValue) {
  graph_->SetOutput(0, nullptr);
  ExpectError("graph output \"y\" is not a value of the graph");
}

TEST_F(VerifyTest, TwoOutputsOfOneName) {
  graph_->AddOutput("y", ValueOf("s"));
  ExpectError("two graph outputs are named \"y\"");
}

TEST_F(VerifyTest, TwoValuesOfOneName) {
  ValueOf("s")->set_name("x");
  ExpectError("add making %x: two values are named \"x\"");
}

TEST_F(VerifyTest, UsersOfAnErasedUse) {
  // Removes a node without telling the graph: the values' lists of users still have it.
  graph_->SetOutput(0, ValueOf("s"));
  graph_->nodes().remove_if([this](const auto& node) { return node.get() == NodeOf("f"); });
  ExpectError("add making %s: the users that the value \"s\" records are not those that it has");
}

TEST_F(VerifyTest, DTypeOtherThanInferred) {
  ValueOf("s")->set_type({DType::kF16, Shape{1, 1, 4, 4}});
  ExpectError("add making %s: output 0 has the type f16[1,1,4,4], inference gives f32[1,1,4,4]");
}

TEST_F(VerifyTest, InvalidInputType) {
  graph_->inputs()[1]->set_type({DType::kF32, Shape{-8}});
  ExpectError("graph input \"v\": a dimension of f32[-8] is negative");
}

TEST_F(VerifyTest, PlanningChoosesTheLayoutOfAConvolution) {
  TensorType type = ValueOf("c")->type();
  type.layout = {.blocked_axis = 1, .block = 8};
  ValueOf("c")->set_type(type);
  ExpectError("add making %s: output 0 has the type f32[1,1,4,4], inference gives f32[1,1,4,4]{c1/8}");
}

TEST_F(VerifyTest, NobodyChoosesTheLayoutOfAnElementwiseOperator) {
  TensorType type = ValueOf("r")->type();
  type.layout = {.blocked_axis = 1, .block = 8};
  ValueOf("r")->set_type(type);
  ExpectError("relu \"first\": output 0 has the type f32[1,16,4,4]{c1/8}, inference gives f32[1,16,4,4]");
}

TEST_F(VerifyTest, LayoutThatDoesNotExist) {
  TensorType type = ValueOf("c")->type();
  type.layout = {.blocked_axis = 4, .block = 8};
  ValueOf("c")->set_type(type);
  ExpectError("conv making %c: a tensor of 4 dimensions cannot be blocked by 8 along axis 4");
}

TEST_F(VerifyTest, SymbolWithTwoBounds) {
  graph_->AddInput("i", {DType::kF32, std::vector<Dim>{Dim("n", 9)}});
  ExpectError("non_zero making %n: the symbol \"n\" has the bounds 9 and 8");
}

TEST_F(VerifyTest, DataDependentSizeWithTheSymbolOfAnother) {
  graph_->AddInput("i", {DType::kF32, std::vector<Dim>{Dim("n", 8)}});
  ExpectError("non_zero making %n: its size depends on the data, but its symbol names another size already");
}

TEST_F(VerifyTest, SymbolThatWasNeverNamed) {
  graph_->AddInput("i", {DType::kF32, std::vector<Dim>{Dim("?", 8)}});
  ExpectError("graph input \"i\": f32[\"?\"<=8] has a symbol that was never named");
}

TEST_F(VerifyTest, BrokenRegion) {
  NodeOf("f")->region().inputs()[0]->set_name("b");
  ExpectError("fused making %f: region 0: neg making %b: two values are named \"b\"");
}

TEST_F(VerifyTest, RegionsTooDeep) {
  auto inner = std::make_unique<Graph>();
  for (int i = 0; i <= kMaxRegionDepth; ++i) {
    auto outer = std::make_unique<Graph>();
    std::vector<std::unique_ptr<Graph>> regions;
    regions.push_back(std::move(inner));
    EXPECT_TRUE(outer->Add(Op::kFused, {}, {}, "", nullptr, std::move(regions)).ok());
    inner = std::move(outer);
  }
  graph_ = std::move(inner);
  ExpectError("regions nest deeper than 64");
}

}  // namespace
}  // namespace attune
