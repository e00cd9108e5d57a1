// Small cases for the passes that are made of rules, text in and text out. Random graphs test separately
// that the passes keep what a graph computes (equivalence_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opt/testing.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RecognizeActivations, Gelu) {
  ExpectRewrite("recognize_activations", R"(graph @g(%x: f32[4]) {
    %half = constant() {value = f32[]<0.5>} : f32[]
    %one = constant() {value = f32[]<1>} : f32[]
    %root = constant() {value = f32[]<1.4142135>} : f32[]
    %a = div(%x, %root) : f32[4]
    %b = erf(%a) : f32[4]
    %c = add(%b, %one) : f32[4]
    %d = mul(%x, %c) : f32[4]
    %y = mul(%d, %half) : f32[4]
    return "out": %y
  })",
                R"(graph @g(%x: f32[4]) {
    %y = gelu(%x) {approximate = "none"} : f32[4]
    return "out": %y
  })");
}

TEST(RecognizeActivations, OtherConstantsAreNoGelu) {
  ExpectUnchanged("recognize_activations", R"(graph @g(%x: f32[4]) {
    %half = constant() {value = f32[]<0.5>} : f32[]
    %one = constant() {value = f32[]<1>} : f32[]
    %root = constant() {value = f32[]<1.5>} : f32[]
    %a = div(%x, %root) : f32[4]
    %b = erf(%a) : f32[4]
    %c = add(%b, %one) : f32[4]
    %d = mul(%x, %c) : f32[4]
    %y = mul(%d, %half) : f32[4]
    return "out": %y
  })");
}

TEST(RecognizeActivations, HardSwishOfHardSigmoid) {
  ExpectRewrite("recognize_activations", R"(graph @g(%x: f32[4]) {
    %three = constant() {value = f32[]<3>} : f32[]
    %six = constant() {value = f32[]<6>} : f32[]
    %a = add(%x, %three) : f32[4]
    %b = clip(%a) {max = 6, min = 0} : f32[4]
    %c = div(%b, %six) : f32[4]
    %y = mul(%x, %c) : f32[4]
    return "out": %y
  })",
                R"(graph @g(%x: f32[4]) {
    %y = hard_swish(%x) : f32[4]
    return "out": %y
  })");
}

TEST(RecognizeNormalizations, LayerNormWithScaleAndBias) {
  ExpectRewrite("recognize_normalizations", R"(graph @g(%x: f32[2,4]) {
    %two = constant() {value = f32[]<2>} : f32[]
    %eps = constant() {value = f32[]<0.5>} : f32[]
    %w = constant() {value = f32[4]<1, 2, 3, 4>} : f32[4]
    %b = constant() {value = f32[4]<5, 6, 7, 8>} : f32[4]
    %m = reduce_mean(%x) {axes = [1], keepdims = 1} : f32[2,1]
    %d = sub(%x, %m) : f32[2,4]
    %q = pow(%d, %two) : f32[2,4]
    %v = reduce_mean(%q) {axes = [1], keepdims = 1} : f32[2,1]
    %e = add(%v, %eps) : f32[2,1]
    %s = sqrt(%e) : f32[2,1]
    %n = div(%d, %s) : f32[2,4]
    %o = mul(%n, %w) : f32[2,4]
    %y = add(%o, %b) : f32[2,4]
    return "out": %y
  })",
                R"(graph @g(%x: f32[2,4]) {
    %w = constant() {value = f32[4]<1, 2, 3, 4>} : f32[4]
    %b = constant() {value = f32[4]<5, 6, 7, 8>} : f32[4]
    %y = layer_norm(%x, %w, %b) {axis = 1, epsilon = 0.5} : f32[2,4]
    return "out": %y
  })");
}

TEST(RecognizeNormalizations, StableSoftmax) {
  ExpectRewrite("recognize_normalizations", R"(graph @g(%x: f32[2,4]) {
    %m = reduce_max(%x) {axes = [1], keepdims = 1} : f32[2,1]
    %d = sub(%x, %m) : f32[2,4]
    %e = exp(%d) : f32[2,4]
    %s = reduce_sum(%e) {axes = [1], keepdims = 1} : f32[2,1]
    %y = div(%e, %s) : f32[2,4]
    return "out": %y
  })",
                R"(graph @g(%x: f32[2,4]) {
    %y = softmax(%x) {axis = 1} : f32[2,4]
    return "out": %y
  })");
}

TEST(RecognizeAttention, WithTransposedKeyScaleAndMask) {
  ExpectRewrite("algebra\nrecognize_attention",
                R"(graph @g(%q: f32[1,2,3,4], %k: f32[1,3,2,4], %v: f32[1,2,3,4], %m: f32[1,1,1,3]) {
    %two = constant() {value = f32[]<2>} : f32[]
    %t = transpose(%k) {perm = [0, 2, 3, 1]} : f32[1,2,4,3]
    %p = matmul(%q, %t) : f32[1,2,3,3]
    %s = div(%p, %two) : f32[1,2,3,3]
    %a = add(%s, %m) : f32[1,2,3,3]
    %w = softmax(%a) {axis = 3} : f32[1,2,3,3]
    %y = matmul(%w, %v) : f32[1,2,3,4]
    return "out": %y
  })",
                R"(graph @g(%q: f32[1,2,3,4], %k: f32[1,3,2,4], %v: f32[1,2,3,4], %m: f32[1,1,1,3]) {
    %0 = transpose(%k) {perm = [0, 2, 1, 3]} : f32[1,2,3,4]
    %y = attention(%q, %0, %v, %m) {scale = 0.5} : f32[1,2,3,4]
    return "out": %y
  })");
}

TEST(RecognizeAttention, NotWhereTheScoresAreUsedElsewhere) {
  EXPECT_THAT(
      RunPasses("recognize_attention", R"(graph @g(%q: f32[1,1,2,2], %k: f32[1,1,2,2], %v: f32[1,1,2,2]) {
    %p = matmul(%q, %k) {transpose_b = 1} : f32[1,1,2,2]
    %w = softmax(%p) {axis = 3} : f32[1,1,2,2]
    %n = neg(%w) : f32[1,1,2,2]
    %y = matmul(%w, %v) : f32[1,1,2,2]
    return "out": %y, "n": %n
  })"),
      Not(HasSubstr("attention")));
}

TEST(Algebra, ConstantsMeetAndDivisionBecomesMultiplication) {
  ExpectRewrite("algebra", R"(graph @g(%x: f32[2]) {
    %c = constant() {value = f32[]<4>} : f32[]
    %d = constant() {value = f32[2]<2, 3>} : f32[2]
    %e = constant() {value = f32[]<1>} : f32[]
    %0 = div(%x, %c) : f32[2]
    %1 = mul(%0, %d) : f32[2]
    %2 = mul(%e, %1) : f32[2]
    return "out": %2
  })",
                R"(graph @g(%x: f32[2]) {
    %0 = constant() {value = f32[2]<0.5, 0.75>} : f32[2]
    %2 = mul(%x, %0) : f32[2]
    return "out": %2
  })");
}

TEST(Algebra, ANeutralElementThatBroadcastsStays) {
  ExpectUnchanged("algebra", R"(graph @g(%x: f32[2]) {
    %c = constant() {value = f32[2,1]<0, 0>} : f32[2,1]
    %y = add(%x, %c) : f32[2,2]
    return "out": %y
  })");
}

TEST(Algebra, DivisionOfIntegersStays) {
  ExpectUnchanged("algebra", R"(graph @g(%x: i32[2]) {
    %c = constant() {value = i32[]<4>} : i32[]
    %y = div(%x, %c) : i32[2]
    return "out": %y
  })");
}

}  // namespace
}  // namespace attune
