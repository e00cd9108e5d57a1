#include "api/compiled_executor.h"

#include <gtest/gtest.h>

#include "api/tensors.h"
#include "graph/text.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

// Compares the graph's outputs for these inputs from compiled code with those of the reference.
void ExpectAgreement(std::string_view text, const std::vector<Tensor>& inputs) {
  const absl::StatusOr<std::unique_ptr<Graph>> graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::StatusOr<std::vector<Tensor>> expected = Interpreter().Run(**graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const absl::StatusOr<std::vector<Tensor>> actual = CompiledExecutor().Run(**graph, inputs);
  ASSERT_TRUE(actual.ok()) << actual.status();
  ASSERT_EQ(actual->size(), expected->size());
  for (size_t i = 0; i < actual->size(); ++i) {
    const Comparison comparison = Compare((*expected)[i], (*actual)[i], {1e-3, 1e-5});
    EXPECT_TRUE(comparison.ok()) << "output " << i << ": " << comparison.ToString();
  }
}

Tensor Integer(int64_t value) { return Tensor::FromInts(Shape{value}).Reshaped({}); }
Tensor Bool(bool value) { return Tensor::Scalar(DType::kBool, value); }

TEST(CompiledExecutor, TakesInputsInTheGraphsOrder) {
  constexpr std::string_view kText = R"(
graph @two(%x: f32[1,4], %y: f32[1,4]) {
  %s = sub(%x, %y) : f32[1,4]
  %p = mul(%x, %y) : f32[1,4]
  return "difference": %s, "product": %p
})";
  ExpectAgreement(kText, {*RandomTensor(DType::kF32, {1, 4}, 1), *RandomTensor(DType::kF32, {1, 4}, 2)});
  EXPECT_FALSE(CompiledExecutor().Run(**ParseGraph(kText), {}).ok());
}

// Fibonacci numbers: in each iteration, both carried values change at once.
TEST(CompiledExecutor, LoopsRunAsOftenAsTheDataSays) {
  constexpr std::string_view kText = R"(
graph @fibonacci(%steps: i64[], %go: bool[], %a: i64[], %b: i64[]) {
  %x, %y = loop(%steps, %go, %a, %b) {
    graph(%i: i64[], %running: bool[], %p: i64[], %q: i64[]) {
      %s = add(%p, %q) : i64[]
      return "running": %running, "p": %q, "q": %s
    }
  } : i64[], i64[]
  return "x": %x, "y": %y
})";
  for (const int64_t steps : {0, 1, 2, 30, -1})
    ExpectAgreement(kText, {Integer(steps), Bool(true), Integer(0), Integer(1)});
  ExpectAgreement(kText, {Integer(5), Bool(false), Integer(0), Integer(1)});
}

TEST(CompiledExecutor, LoopsSwapTheirState) {
  constexpr std::string_view kText = R"(
graph @swap(%steps: i64[], %go: bool[], %a: f32[3], %b: f32[3]) {
  %x, %y = loop(%steps, %go, %a, %b) {
    graph(%i: i64[], %running: bool[], %p: f32[3], %q: f32[3]) {
      return "running": %running, "p": %q, "q": %p
    }
  } : f32[3], f32[3]
  return "x": %x, "y": %y
})";
  for (const int64_t steps : {0, 1, 2})
    ExpectAgreement(kText, {Integer(steps), Bool(true), *RandomTensor(DType::kF32, {3}, 1),
                            *RandomTensor(DType::kF32, {3}, 2)});
}

// Values from outside the loop are used in every iteration, even after their last use in the program's
// order.
TEST(CompiledExecutor, LoopsStopByTheirConditionAndKeepWhatTheyUse) {
  constexpr std::string_view kText = R"(
graph @until(%x: f32[64], %limit: f32[]) {
  %steps = constant() {value = i64[]<1000>} : i64[]
  %go = constant() {value = bool[]<1>} : bool[]
  %twice = add(%x, %x) : f32[64]
  %sum, %rounds, %used, %bound = loop(%steps, %go, %x, %steps, %twice, %limit) {
    graph(%i: i64[], %running: bool[], %s: f32[64], %n: i64[], %step: f32[64], %max: f32[]) {
      %next = add(%s, %step) : f32[64]
      %squares = mul(%next, %next) : f32[64]
      %total = reduce_sum(%squares) {axes = [0], keepdims = 0} : f32[]
      %more = less(%total, %max) : bool[]
      return "more": %more, "s": %next, "n": %i, "step": %step, "max": %max
    }
  } : f32[64], i64[], f32[64], f32[]
  return "sum": %sum, "rounds": %rounds
})";
  for (const double limit : {1.0, 1e4, 1e5})
    ExpectAgreement(kText, {*RandomTensor(DType::kF32, {64}, 1), Tensor::Scalar(DType::kF32, limit)});
}

// A convolution's result is in a blocked layout, which the branches and the loop do not know about.
TEST(CompiledExecutor, RegionsTakeBlockedValues) {
  constexpr std::string_view kText = R"(
graph @regions(%x: f32[1,16,6,6], %w: f32[32,16,3,3], %which: bool[], %steps: i64[]) {
  %c = conv(%x, %w) : f32[1,32,4,4]
  %y = if(%which, %c) {
    graph(%t: f32[1,32,4,4]) {
      %n = neg(%t) : f32[1,32,4,4]
      return "y": %n
    }
    graph(%t: f32[1,32,4,4]) {
      return "y": %t
    }
  } : f32[1,32,4,4]
  %z = loop(%steps, %which, %c) {
    graph(%i: i64[], %running: bool[], %p: f32[1,32,4,4]) {
      %q = add(%p, %p) : f32[1,32,4,4]
      return "running": %running, "p": %q
    }
  } : f32[1,32,4,4]
  return "y": %y, "z": %z
})";
  for (const bool which : {false, true})
    ExpectAgreement(kText, {*RandomTensor(DType::kF32, {1, 16, 6, 6}, 1),
                            *RandomTensor(DType::kF32, {32, 16, 3, 3}, 2), Bool(which), Integer(3)});
}

}  // namespace
}  // namespace attune
