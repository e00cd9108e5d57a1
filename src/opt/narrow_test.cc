#include <gtest/gtest.h>

#include "base/status.h"
#include "opt/narrowing_error.h"
#include "opt/pass_plan.h"
#include "opt/testing.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

// The graph that the pass makes of a graph with one input, measured with `example`.
std::string Measured(std::string_view text, const Tensor& example, NarrowingReport& report,
                     const Executor& executor = Interpreter()) {
  const std::unique_ptr<Graph> graph = ParseOrDie(text);
  const std::vector<Tensor> examples = {example};
  RunOptions options;
  options.measurement = {&executor, &examples};
  options.narrowing = &report;
  const auto steps = RunPlan(*graph, *ParsePassPlan("narrow bf16=1"), options);
  return steps.ok() ? Print(*graph) : steps.status().ToString();
}

class NoExecutor : public Executor {
 public:
  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph, const std::vector<Tensor>&) const override {
    return InvalidInput("nothing runs ", graph.name());
  }
};

// 1 and 1.003 are the same in bf16.
Tensor NeighboursInBF16() {
  const float values[] = {1, 1.003f, 1.003f, 1};
  return Tensor::FromFloats(values, {2, 2});
}

TEST(Narrow, IsOffByDefault) {
  ExpectUnchanged("narrow", R"(graph @g(%x: f32[1,32,4,4], %w: f32[32,32,1,1]) {
    %y = conv(%x, %w) : f32[1,32,4,4]
    return "": %y
  })");
  PassPlan plan = DefaultPlan();
  EXPECT_FALSE(IsBF16(plan));
  EXPECT_TRUE(SetBF16(plan).ok());
  EXPECT_TRUE(IsBF16(plan));
  plan.steps.clear();
  EXPECT_EQ(SetBF16(plan).message(), "the plan lacks the pass narrow, which makes values bf16");
}

// The first convolution has too few channels; the last operator is kept.
TEST(Narrow, FeatureMapsBetweenConvolutions) {
  ExpectRewrite("narrow bf16=1", R"(graph @g(%x: f32[1,3,4,4]) {
    %v = constant() {value = f32[2,3,1,1]<1, 2, 3, 4, 5, 6>} : f32[2,3,1,1]
    %a = conv(%x, %v) : f32[1,2,4,4]
    %b = relu(%a) : f32[1,2,4,4]
    %m = max_pool(%b) {kernel = [2, 2]} : f32[1,2,3,3]
    %y = softmax(%m) {axis = 1} : f32[1,2,3,3]
    return "y": %y
  })",
                R"(graph @g(%x: f32[1,3,4,4]) {
    %v = constant() {value = f32[2,3,1,1]<1, 2, 3, 4, 5, 6>} : f32[2,3,1,1]
    %a = conv(%x, %v) : f32[1,2,4,4]
    %0 = cast(%a) {to = bf16} : bf16[1,2,4,4]
    %b = relu(%0) : bf16[1,2,4,4]
    %m = max_pool(%b) {kernel = [2, 2]} : bf16[1,2,3,3]
    %1 = cast(%m) {to = f32} : f32[1,2,3,3]
    %y = softmax(%1) {axis = 1} : f32[1,2,3,3]
    return "y": %y
  })");
}

// bf16 can neither hold 43775 nor tell all rounded numbers apart.
TEST(Narrow, KeepsWhatBecomesAnInteger) {
  ExpectUnchanged("narrow bf16=1", R"(graph @g(%x: f32[1,2,4,4]) {
    %c = constant() {value = f32[]<0.3>} : f32[]
    %z = constant() {value = f32[]<43775>} : f32[]
    %m = mul(%x, %c) : f32[1,2,4,4]
    %r = round(%m) : f32[1,2,4,4]
    %s = add(%r, %z) : f32[1,2,4,4]
    %y = cast(%s) {to = u16} : u16[1,2,4,4]
    return "y": %y
  })");
}

// The zero points of channels are as large, and reach the sum through another operand.
TEST(Narrow, KeepsZeroPointsOfChannels) {
  ExpectUnchanged("narrow bf16=1", R"(graph @g(%x: f32[1,2,4,4], %z: u16[2]) {
    %r = round(%x) : f32[1,2,4,4]
    %c = cast(%z) {to = f32} : f32[2]
    %zs = reshape(%c) {shape = [1, 2, 1, 1]} : f32[1,2,1,1]
    %s = add(%r, %zs) : f32[1,2,4,4]
    %y = cast(%s) {to = u16} : u16[1,2,4,4]
    return "y": %y
  })");
}

// The lowest f32, which masks are made with, would be infinite.
TEST(Narrow, KeepsWhatBF16DoesNotHave) {
  ExpectUnchanged("narrow bf16=1", R"(graph @g(%x: f32[1,1,1,4]) {
    %c = constant() {value = f32[]<-3.4028235e38>} : f32[]
    %y = mul(%x, %c) : f32[1,1,1,4]
    return "y": %y
  })");
}

// The running sum stays in f32.
TEST(Narrow, ProductsButNotWhatTheyAreAddedTo) {
  ExpectRewrite("narrow bf16=1", R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1, 2, 3, 4>} : f32[2,2]
    %a = matmul(%x, %w) : f32[2,2]
    %b = matmul(%a, %w) : f32[2,2]
    %y = add(%b, %x) : f32[2,2]
    return "y": %y
  })",
                R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1, 2, 3, 4>} : f32[2,2]
    %0 = cast(%x) {to = bf16} : bf16[2,2]
    %1 = constant() {value = bf16[2,2]<1, 2, 3, 4>} @"w" : bf16[2,2]
    %a = matmul(%0, %1) : bf16[2,2]
    %b = matmul(%a, %1) : bf16[2,2]
    %2 = cast(%b) {to = f32} : f32[2,2]
    %y = add(%2, %x) : f32[2,2]
    return "y": %y
  })");
}

// Two terms that cancel leave their rounding errors; a sum of like terms errs as they do.
TEST(Narrow, KeepsALayerThatErrs) {
  constexpr std::string_view kBefore = R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1, 2, 3, 4>} : f32[2,2]
    %v = constant() {value = f32[2,2]<1, 2, -1, -2>} : f32[2,2]
    %a = matmul(%x, %w) @"sum" : f32[2,2]
    %b = matmul(%x, %v) @"difference" : f32[2,2]
    return "a": %a, "b": %b
  })";
  NarrowingReport report;
  EXPECT_EQ(Measured(kBefore, NeighboursInBF16(), report), Print(*ParseOrDie(R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1, 2, 3, 4>} : f32[2,2]
    %v = constant() {value = f32[2,2]<1, 2, -1, -2>} : f32[2,2]
    %0 = cast(%x) {to = bf16} : bf16[2,2]
    %1 = constant() {value = bf16[2,2]<1, 2, 3, 4>} @"w" : bf16[2,2]
    %a = matmul(%0, %1) @"sum" : bf16[2,2]
    %b = matmul(%x, %v) @"difference" : f32[2,2]
    %2 = cast(%a) {to = f32} : f32[2,2]
    return "a": %2, "b": %b
  })")));
  ASSERT_EQ(report.layers.size(), 2u);
  EXPECT_EQ(report.layers[0].name, "sum");
  EXPECT_TRUE(report.layers[0].is_bf16);
  EXPECT_LT(*report.layers[0].error, 0.004);
  EXPECT_FALSE(report.layers[1].is_bf16);
  EXPECT_NEAR(*report.layers[1].error, 1, 1e-3);
  EXPECT_EQ(report.failure, "");
  ASSERT_EQ(report.outputs.size(), 2u);
  EXPECT_NEAR(report.outputs[1].ToDouble(0), -0.003, 1e-6);

  NarrowingReport unmeasured;
  EXPECT_EQ(Measured(kBefore, NeighboursInBF16(), unmeasured, NoExecutor()),
            RunPasses("narrow bf16=1", kBefore));
  EXPECT_EQ(unmeasured.failure, "nothing runs g");
  EXPECT_TRUE(unmeasured.layers[1].is_bf16);
  EXPECT_FALSE(unmeasured.layers[1].error.has_value());
}

// %r and %t would be stored for the last product alone, so they are not rounded on the way from %a. But %s
// is stored for other users too.
TEST(Narrow, KeepsTheWayToALayerThatErrs) {
  NarrowingReport report;
  EXPECT_EQ(Measured(R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1, 0, 0, 1>} : f32[2,2]
    %v = constant() {value = f32[2,2]<1, 1, -1, -1>} : f32[2,2]
    %a = matmul(%x, %w) : f32[2,2]
    %s = reshape(%a) {shape = [1, 2, 2]} : f32[1,2,2]
    %r = reshape(%s) {shape = [2, 1, 2]} : f32[2,1,2]
    %t = reshape(%r) {shape = [2, 2]} : f32[2,2]
    %b = matmul(%t, %v) : f32[2,2]
    return "b": %b, "s": %s
  })",
                     NeighboursInBF16(), report),
            Print(*ParseOrDie(R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1, 0, 0, 1>} : f32[2,2]
    %v = constant() {value = f32[2,2]<1, 1, -1, -1>} : f32[2,2]
    %0 = cast(%x) {to = bf16} : bf16[2,2]
    %1 = constant() {value = bf16[2,2]<1, 0, 0, 1>} @"w" : bf16[2,2]
    %a = matmul(%0, %1) : bf16[2,2]
    %s = reshape(%a) {shape = [1, 2, 2]} : bf16[1,2,2]
    %2 = cast(%s) {to = f32} : f32[1,2,2]
    %r = reshape(%2) {shape = [2, 1, 2]} : f32[2,1,2]
    %t = reshape(%r) {shape = [2, 2]} : f32[2,2]
    %b = matmul(%t, %v) : f32[2,2]
    return "b": %b, "s": %2
  })")));
}

// A branch's inputs are not the network's: its layers are narrowed by their kind.
TEST(Narrow, MeasuresNothingInBranches) {
  NarrowingReport report;
  Measured(R"(graph @g(%x: f32[2,2]) {
    %c = constant() {value = bool[]<1>} : bool[]
    %y = if(%c, %x) {
      graph(%a: f32[2,2]) {
        %v = constant() {value = f32[2,2]<1, 1, -1, -1>} : f32[2,2]
        %b = matmul(%a, %v) : f32[2,2]
        return "": %b
      }
      graph(%d: f32[2,2]) {
        return "": %d
      }
    } : f32[2,2]
    return "y": %y
  })",
           NeighboursInBF16(), report);
  ASSERT_EQ(report.layers.size(), 1u);
  EXPECT_EQ(report.layers[0].name, "matmul b");
  EXPECT_TRUE(report.layers[0].is_bf16);
  EXPECT_FALSE(report.layers[0].error.has_value());
  EXPECT_EQ(report.failure, "");
}

}  // namespace
}  // namespace attune
