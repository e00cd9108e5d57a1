#include "api/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/random.h"
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
  EXPECT_FALSE(network.CheckWith(1023, network.expected().ToDouble(1023) + 0.5).ok);
}

// The sum of `values`, without the last `lost`, in f32 with `lanes` partial sums.
float SumInF32(std::span<const float> values, size_t lanes, size_t lost) {
  std::vector<float> partial(lanes, 0);
  for (size_t i = 0; i + lost < values.size(); ++i) partial[i % lanes] += values[i];
  float sum = 0;
  for (const float part : partial) sum += part;
  return sum;
}

// The rows of x [1,C,N] normalized in f32, and the mean of each normalized row.
struct NormalizedRows {
  Tensor y;
  Tensor means;
};
NormalizedRows NormalizeInF32(const Tensor& x, double epsilon, size_t lanes, size_t lost) {
  const int64_t channels = x.shape()[1], size = x.shape()[2];
  const float portion = 1.0F / static_cast<float>(size);
  NormalizedRows result = {Tensor(DType::kF32, x.shape()), Tensor(DType::kF32, {1, channels, 1})};
  for (int64_t c = 0; c < channels; ++c) {
    const auto row = x.as<float>().subspan(c * size, size);
    const float mean = SumInF32(row, lanes, lost) * portion;
    std::vector<float> squares;
    for (const float value : row) squares.push_back((value - mean) * (value - mean));
    const float scale = 1 / std::sqrt(SumInF32(squares, lanes, 0) * portion + static_cast<float>(epsilon));
    const auto y = result.y.as_mutable<float>().subspan(c * size, size);
    for (int64_t i = 0; i < size; ++i) y[i] = (row[i] - mean) * scale;
    result.means.SetDouble(c, SumInF32(y, lanes, 0) * portion);
  }
  return result;
}

// Operators that all make %y, the normalized rows of %x [1,C,N].
std::string NormalizationText(const std::string& form, int64_t channels, int64_t size, double epsilon) {
  const std::string type = absl::StrFormat("f32[1,%d,%d]", channels, size);
  const std::string row_type = absl::StrFormat("f32[1,%d,1]", channels);
  std::string text =
      absl::StrFormat("graph @g(%%x: %s, %%s: f32[%d], %%b: f32[%d]) {", type, channels, channels);
  if (form == "group_norm") {
    absl::StrAppendFormat(&text, "%%y = group_norm(%%x, %%s, %%b) {epsilon = %g, groups = %d} : %s", epsilon,
                          channels, type);
  } else if (form == "layer_norm") {
    absl::StrAppendFormat(&text, "%%y = layer_norm(%%x) {axis = 2, epsilon = %g} : %s", epsilon, type);
  } else {
    absl::StrAppendFormat(&text, R"(
      %%mean = reduce_mean(%%x) {axes = [2]} : %2$s
      %%centered = sub(%%x, %%mean) : %1$s
      %%squares = mul(%%centered, %%centered) : %1$s
      %%variance = reduce_mean(%%squares) {axes = [2]} : %2$s
      %%epsilon = constant() {value = f32[]<%3$g>} : f32[]
      %%sum = add(%%variance, %%epsilon) : %2$s
      %%deviation = sqrt(%%sum) : %2$s
      %%y = div(%%centered, %%deviation) : %1$s)",
                          type, row_type, epsilon);
  }
  return text + absl::StrFormat(R"(
    %%m = reduce_mean(%%y) {axes = [2]} : %s
    return "y": %%y, "m": %%m
  })",
                                row_type);
}

// The rounding of a mean moves all elements alike, and the more the less they differ from it. A mean that
// lacks an element is wrong however little they do.
TEST(VerifyTest, FollowsTheConditionOfNearlyConstantRows) {
  Random random(7);
  for (int i = 0; i < 90; ++i) {
    const std::string form =
        std::vector<std::string>{"group_norm", "layer_norm", "chain"}[static_cast<size_t>(i % 3)];
    const auto channels = random.Integer(1, 3);
    const auto size = random.Integer(2, 400);
    const double epsilon = random.Integer(0, 1) == 0 ? 1e-5 : 1e-12;
    const double mean = std::pow(10, 4 * random.Uniform() - 2);
    const double deviation = i % 7 == 0 ? 0 : mean * std::pow(10, -7 * random.Uniform());
    const size_t lanes = size_t{1} << (2 * random.Integer(0, 2));
    const std::string text = NormalizationText(form, channels, size, epsilon);
    SCOPED_TRACE(absl::StrCat(text, "\nmean ", mean, ", deviation ", deviation, ", lanes ", lanes));
    const auto graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const Tensor x = RandomF32({1, channels, size}, random.Next(), mean, deviation);
    const std::vector<NamedTensor> inputs = {
        {"x", x}, {"s", RandomF32({channels}, 0, 1, 0)}, {"b", RandomF32({channels}, 0, 0, 0)}};
    // Where rows differ by hardly more than rounding, any result is right.
    const bool tells = std::hypot(deviation, std::sqrt(epsilon)) > 1e-4 * mean;
    for (const bool right : tells ? std::vector<bool>{true, false} : std::vector<bool>{true}) {
      const NormalizedRows rows = NormalizeInF32(x, epsilon, lanes, right ? 0 : 1);
      const auto report = VerifyAgainstReference(**graph, inputs, {{"y", rows.y}, {"m", rows.means}});
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_EQ(report->ok(), right) << report->outputs[0].comparison.ToString() << "\n"
                                     << report->outputs[1].comparison.ToString();
    }
  }
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
