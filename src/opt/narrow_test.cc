#include <gtest/gtest.h>

#include "opt/pass_plan.h"
#include "opt/testing.h"

namespace attune {
namespace {

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

// The lowest f32, which masks are made with, would be infinite.
TEST(Narrow, KeepsWhatBF16DoesNotHave) {
  ExpectUnchanged("narrow bf16=1", R"(graph @g(%x: f32[1,1,1,4]) {
    %c = constant() {value = f32[]<-3.4028235e38>} : f32[]
    %y = mul(%x, %c) : f32[1,1,1,4]
    return "y": %y
  })");
}

// The sum that runs along stays in f32.
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

}  // namespace
}  // namespace attune
