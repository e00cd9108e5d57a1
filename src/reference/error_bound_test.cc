#include "reference/error_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/status.h"
#include "graph/text.h"
#include "reference/compare.h"
#include "reference/evaluate_for_test.h"
#include "reference/interpreter.h"

namespace attune::reference {
namespace {

std::unique_ptr<Graph> Parse(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

// With eight pairs, one element in 10^11 is a false alarm if errors are as large as modelled.
absl::StatusOr<std::vector<OutputBounds>> BoundErrors(const Graph& graph, const std::vector<Tensor>& inputs,
                                                      DType precision) {
  constexpr int kPairs = 8;
  ASSIGN_OR_RETURN(const std::vector<Tensor> reference, Interpreter().Run(graph, inputs));
  ASSIGN_OR_RETURN(ErrorAnalysis analysis, ErrorAnalysis::Create(graph, inputs, reference, precision));
  for (int i = 0; i < kPairs; ++i) analysis.AddPair();
  return analysis.Outputs();
}

std::vector<OutputBounds> Bound(const Graph& graph, const std::vector<Tensor>& inputs,
                                DType precision = DType::kF32) {
  auto outputs = BoundErrors(graph, inputs, precision);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *std::move(outputs) : std::vector<OutputBounds>();
}

// The bounds of the first output of `text`.
OutputBounds BoundOne(const std::string& text, const std::vector<Tensor>& inputs) {
  return Bound(*Parse(text), inputs).at(0);
}

double Largest(const Tensor& bound) {
  double largest = 0;
  for (int64_t i = 0; i < bound.num_elements(); ++i) largest = std::max(largest, bound.ToDouble(i));
  return largest;
}

// A matrix product of f32 that accumulates in f32, forwards or backwards.
Tensor MultiplyInF32(const Tensor& a, const Tensor& b, bool backwards) {
  const int64_t rows = a.shape()[0], depth = a.shape()[1], columns = b.shape()[1];
  Tensor out(DType::kF32, {rows, columns});
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      float sum = 0;
      for (int64_t step = 0; step < depth; ++step) {
        const int64_t k = backwards ? depth - 1 - step : step;
        sum += a.as<float>()[i * depth + k] * b.as<float>()[k * columns + j];
      }
      out.as_mutable<float>()[i * columns + j] = sum;
    }
  }
  return out;
}

TEST(ErrorBound, HoldsForSumsInAnyOrderAndFindsALostTerm) {
  const std::string text = R"(graph @g(%a: f32[8,2000], %b: f32[2000,8]) {
    %y = matmul(%a, %b) : f32[8,8]
    return "y": %y
  })";
  for (const double mean : {0.0, 1.0}) {
    const Tensor a = RandomF32({8, 2000}, 1, mean), b = RandomF32({2000, 8}, 2, mean);
    const OutputBounds output = BoundOne(text, {a, b});
    for (const bool backwards : {false, true}) {
      const Comparison comparison = Compare(output.expected, MultiplyInF32(a, b, backwards), output.bound);
      EXPECT_TRUE(comparison.ok()) << comparison.ToString();
    }
    // Simulates a bug: the last column, a tail, is not summed.
    Tensor short_of_one = RandomF32({8, 2000}, 1, mean);
    for (int64_t row = 0; row < 8; ++row) short_of_one.SetDouble(row * 2000 + 1999, 0);
    const Comparison comparison =
        Compare(output.expected, MultiplyInF32(short_of_one, b, false), output.bound);
    EXPECT_GT(comparison.mismatches, 48) << comparison.ToString();
  }
}

// The instance normalization amplifies, because channels differ little from their mean.
TEST(ErrorBound, FollowsWhatANetworkAmplifies) {
  const std::string text = R"(graph @g(%x: f32[1,2,16,16], %s: f32[2], %b: f32[2]) {
    %y = group_norm(%x, %s, %b) {epsilon = 1e-12, groups = 2} : f32[1,2,16,16]
    return "y": %y
  })";
  const std::vector<double> ones = {1, 1};
  const auto bound_of = [&](double deviation) {
    return BoundOne(text, {RandomF32({1, 2, 16, 16}, 3, 1, deviation), F32({2}, ones), F32({2}, {0, 0})});
  };
  EXPECT_LT(Largest(bound_of(1).bound), 1e-4);
  const double amplified = Largest(bound_of(1e-4).bound);
  EXPECT_GT(amplified, 1e-3);
  EXPECT_LT(amplified, 1);
}

TEST(ErrorBound, SmallIntegersAreExact) {
  const OutputBounds output =
      BoundOne(R"(graph @g(%a: f32[2,3], %b: f32[3,2], %c: f32[2]) {
    %p = matmul(%a, %b) : f32[2,2]
    %q = add(%p, %c) : f32[2,2]
    %f = floor(%q) : f32[2,2]
    %y = cast(%f) {to = i64} : i64[2,2]
    return "y": %y
  })",
               {F32({2, 3}, {1, 2, 3, 4, 5, 6}), F32({3, 2}, {1, 2, 3, 4, 5, 6}), F32({2}, {-1, 7})});
  EXPECT_EQ(Largest(output.bound), 0);
  EXPECT_THAT(output.expected.ToInts(), ::testing::ElementsAre(21, 35, 48, 71));
}

// (-3)² is 9, but (-3)^2.0000001 is NaN.
TEST(ErrorBound, WholeExponentsStayWhole) {
  const OutputBounds output = BoundOne(R"(graph @g(%x: f32[4]) {
    %two = constant() {value = f32[]<2>} : f32[]
    %y = pow(%x, %two) : f32[4]
    return "y": %y
  })",
                                       {F32({4}, {-3, -0.1, 0, 5})});
  EXPECT_GT(output.bound.ToDouble(0), 0);
  EXPECT_LT(Largest(output.bound), 1e-4);
}

// 0.1 + 0.2 may be on either side of 0.3f, and nothing else may change.
TEST(ErrorBound, AJumpIsAllowedWhereRoundingReachesItAlone) {
  const OutputBounds output =
      BoundOne(R"(graph @g(%a: f32[3], %b: f32[3], %c: f32[3]) {
    %s = add(%a, %b) : f32[3]
    %y = less(%s, %c) : bool[3]
    return "y": %y
  })",
               {F32({3}, {0.1, 0.1, 0.1}), F32({3}, {0.2, 0.2, 0.2}), F32({3}, {0.3, 0.3001, 0.2999})});
  EXPECT_GE(output.bound.ToDouble(0), 1);
  EXPECT_EQ(output.bound.ToDouble(1), 0);
  EXPECT_EQ(output.bound.ToDouble(2), 0);
}

TEST(ErrorBound, AnIndexIsFreeBetweenEqualsOnly) {
  const OutputBounds output = BoundOne(
      R"(graph @g(%x: f32[2,4], %s: f32[]) {
    %z = mul(%x, %s) : f32[2,4]
    %y = arg_max(%z) {axis = 1, keepdims = 0} : i64[2]
    return "y": %y
  })",
      {F32({2, 4}, {1, 0.3, 0.2, 1.00000012, 1, 0.3, 0.2, 1.001}), Tensor::Scalar(DType::kF32, 0.7)});
  EXPECT_GE(output.bound.ToDouble(0), 3);
  EXPECT_EQ(output.bound.ToDouble(1), 0);
}

TEST(ErrorBound, CastsToF64KeepTheErrorsOfF32) {
  const OutputBounds output = BoundOne(R"(graph @g(%x: f32[64]) {
    %e = exp(%x) : f32[64]
    %y = cast(%e) {to = f64} : f64[64]
    return "y": %y
  })",
                                       {RandomF32({64}, 4)});
  Tensor rounded(DType::kF64, {64});
  for (int64_t i = 0; i < 64; ++i) {
    rounded.SetDouble(i, static_cast<double>(static_cast<float>(output.expected.ToDouble(i))));
  }
  EXPECT_TRUE(Compare(output.expected, rounded, output.bound).ok());
  EXPECT_LT(Largest(output.bound), 1e-4);
}

TEST(ErrorBound, OverflowOfTheReferenceSaysNothing) {
  const OutputBounds output = BoundOne(R"(graph @g(%x: f32[2]) {
    %s = mul(%x, %x) : f32[2]
    %y = sqrt(%s) : f32[2]
    return "y": %y
  })",
                                       {F32({2}, {1e30, 2})});
  EXPECT_TRUE(std::isinf(output.bound.ToDouble(0)));
  EXPECT_TRUE(Compare(output.expected, F32({2}, {INFINITY, 2}), output.bound).ok());
  EXPECT_FALSE(Compare(output.expected, F32({2}, {INFINITY, 2.001}), output.bound).ok());
  EXPECT_FALSE(Compare(output.expected, F32({2}, {1e30, INFINITY}), output.bound).ok());
}

TEST(ErrorBound, ReachesIntoRegionsAndRepeats) {
  const auto graph = Parse(R"(graph @g(%n: i64[], %c: bool[], %x: f32[4], %s: f32[4]) {
    %y, %z = loop(%n, %c, %x, %s) {
      graph(%i: i64[], %d: bool[], %v: f32[4], %t: f32[4]) {
        %w = mul(%v, %t) : f32[4]
        return "": %d, "": %w, "": %t
      }
    } : f32[4], f32[4]
    return "y": %y
  })");
  if (graph == nullptr) return;
  const std::vector<Tensor> inputs = {Tensor::Scalar(DType::kI64, 10), Tensor::Scalar(DType::kBool, 1),
                                      RandomF32({4}, 5), F32({4}, {1.1, 1.1, 1.1, 1.1})};
  const std::vector<OutputBounds> outputs = Bound(*graph, inputs), again = Bound(*graph, inputs);
  EXPECT_GT(Largest(outputs.at(0).bound), 0);
  EXPECT_LT(Largest(outputs.at(0).bound), 1e-4);
  EXPECT_TRUE(outputs.at(0).bound.Identical(again.at(0).bound));
}

TEST(ErrorBound, NarrowPrecisionWidensIt) {
  const auto graph = Parse(R"(graph @g(%a: f32[4,32], %b: f32[32,4]) {
    %y = matmul(%a, %b) : f32[4,4]
    return "y": %y
  })");
  const std::vector<Tensor> inputs = {RandomF32({4, 32}, 6), RandomF32({32, 4}, 7)};
  EXPECT_GT(Largest(Bound(*graph, inputs, DType::kBF16).at(0).bound),
            1e3 * Largest(Bound(*graph, inputs).at(0).bound));
}

}  // namespace
}  // namespace attune::reference
