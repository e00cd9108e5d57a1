#include "api/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "graph/text.h"
#include "reference/evaluate_for_test.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

using reference::RandomF32;

// A graph with one input "x" and one output "y".
class Verified {
 public:
  Verified(const std::string& text, Tensor x) : x_(std::move(x)) {
    auto graph = ParseGraph(text);
    EXPECT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
    expected_ = (*Interpreter().Run(*graph_, {x_}))[0];
  }

  const Tensor& expected() const { return expected_; }

  // The result of checking the reference's output after changing every element.
  OutputCheck Check(const std::function<double(int64_t i, double value)>& change) const {
    Tensor y(expected_.dtype(), expected_.shape());
    for (int64_t i = 0; i < y.num_elements(); ++i) y.SetDouble(i, change(i, expected_.ToDouble(i)));
    const auto report = VerifyAgainstReference(*graph_, {{"x", x_}}, {{"y", y}});
    EXPECT_TRUE(report.ok()) << report.status();
    return report->outputs.at(0);
  }
  // The same after changing only one element.
  OutputCheck CheckWith(int64_t index, double wrong) const {
    return Check([&](int64_t i, double value) { return i == index ? wrong : value; });
  }

 private:
  Tensor x_;
  std::unique_ptr<Graph> graph_;
  Tensor expected_;
};

TEST(VerifyTest, ACastToF64KeepsTheErrorsOfF32) {
  const Verified network(R"(graph @g(%x: f32[64]) {
    %e = exp(%x) : f32[64]
    %y = cast(%e) {to = f64} : f64[64]
    return "y": %y
  })",
                         RandomF32({64}, 1));
  EXPECT_TRUE(network.Check([](int64_t i, double v) { return v * (1 + (i % 3 - 1) * 0x1p-23); }).ok);
  EXPECT_FALSE(network.CheckWith(63, network.expected().ToDouble(63) * 1.0001).ok);
}

// A nearly constant channel amplifies rounding: only its own elements may be off by that much.
TEST(VerifyTest, AmplificationIsEachElementsOwn) {
  Tensor x = RandomF32({1, 2, 32, 32}, 2, 1, 1);
  const Tensor small = RandomF32({32, 32}, 3, 1, 1e-4);
  for (int64_t i = 0; i < small.num_elements(); ++i) x.SetDouble(i, small.ToDouble(i));
  const Verified network(R"(graph @g(%x: f32[1,2,32,32]) {
    %s = constant() {value = f32[2]<1, 1>} : f32[2]
    %b = constant() {value = f32[2]<0, 0>} : f32[2]
    %h = mul(%x, %x) : f32[1,2,32,32]
    %y = group_norm(%h, %s, %b) {epsilon = 1e-12, groups = 2} : f32[1,2,32,32]
    return "y": %y
  })",
                         x);
  constexpr double kRounding = 1e-3;  // ten roundings of 1, divided by the deviation
  const OutputCheck check = network.CheckWith(1023, network.expected().ToDouble(1023) + kRounding);
  EXPECT_TRUE(check.ok) << check.comparison.ToString();
  EXPECT_THAT(check.criterion, HasSubstr("or what rounding explains, at most"));
  EXPECT_FALSE(network.CheckWith(2047, network.expected().ToDouble(2047) + kRounding).ok);
  EXPECT_FALSE(network.CheckWith(1023, 0.5 - network.expected().ToDouble(1023)).ok);
}

TEST(VerifyTest, AnAllZeroOutputOfAQuantizedNetwork) {
  const Verified network(R"(graph @g(%x: f32[16]) {
    %scale = constant() {value = f32[]<0.5>} : f32[]
    %q = quantize(%x, %scale) {to = i8} : i8[16]
    %y = dequantize(%q, %scale) : f32[16]
    return "y": %y
  })",
                         RandomF32({16}, 4, 0, 0.01));
  EXPECT_TRUE(network.Check([](int64_t, double) { return 1e-12; }).ok);
  EXPECT_FALSE(network.CheckWith(15, 0.5).ok);
}

TEST(VerifyTest, FindsALostZeroPoint) {
  const Verified network(R"(graph @g(%x: f32[4,32]) {
    %scale = constant() {value = f32[]<0.05>} : f32[]
    %zero = constant() {value = u8[]<128>} : u8[]
    %q = quantize(%x, %scale, %zero) {to = u8} : u8[4,32]
    %c = cast(%q) {to = i32} : i32[4,32]
    %z = cast(%zero) {to = i32} : i32[]
    %d = sub(%c, %z) : i32[4,32]
    %y = reduce_sum(%d) {axes = [1]} : i32[4,1]
    return "y": %y
  })",
                         RandomF32({4, 32}, 5));
  EXPECT_TRUE(network.Check([](int64_t, double v) { return v; }).ok);
  EXPECT_FALSE(network.Check([](int64_t, double v) { return v + 32 * 128; }).ok);
}

}  // namespace
}  // namespace attune
