#include "reference/interpreter.h"

#include "graph/text.h"
#include "reference/compare.h"
#include "reference/convert_floats.h"
#include "reference/evaluate_for_test.h"

namespace attune::reference {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::vector<Tensor>> RunText(std::string_view text, const std::vector<Tensor>& inputs) {
  absl::StatusOr<std::unique_ptr<Graph>> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  return Interpreter().Run(**graph, inputs);
}

TEST(Interpreter, RunsAGraphWithSharedValuesAndRepeatedOutputs) {
  const auto outputs = RunText(R"(
    graph @g(%x: f32[2], %unused: f32[]) {
      %one = constant() {value = f32[]<1>} : f32[]
      %y = add(%x, %one) : f32[2]
      %z = mul(%y, %y) : f32[2]
      return "z": %z, "y": %y, "x": %x, "again": %z
    })",
                               {F32({2}, {1, 2}), F32({}, {0})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 4);
  EXPECT_THAT((*outputs)[0], Has({4, 9}));
  EXPECT_THAT((*outputs)[1], Has({2, 3}));
  EXPECT_THAT((*outputs)[2], Has({1, 2}));
  EXPECT_THAT((*outputs)[3], Has({4, 9}));
}

TEST(ConvertFloats, ComputesInDoubleThroughoutRegions) {
  const auto graph = ParseGraph(R"(
    graph @g(%c: bool[], %x: f16[1], %n: i32[1]) {
      %small = constant() {value = f16[1]<0.0009765625>} : f16[1]
      %m = cast(%n) {to = f16} : f16[1]
      %s = add(%x, %m) : f16[1]
      %r = if(%c, %s, %small) {
        graph(%a: f16[1], %b: f16[1]) {
          %y = add(%a, %b) : f16[1]
          return "": %y
        }
        graph(%a: f16[1], %b: f16[1]) {
          return "": %a
        }
      } : f16[1]
      return "r": %r
    })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::StatusOr<std::unique_ptr<Graph>> wide = ConvertFloats(**graph, DType::kF64);
  ASSERT_TRUE(wide.ok()) << wide.status();
  const auto outputs = Interpreter().Run(
      **wide, {Tensor::Scalar(DType::kBool, 1), *ConvertFloats(F32({1}, {2048}), DType::kF64),
               Tensor::FromInts(std::vector<int64_t>{1}, DType::kI32)});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].dtype(), DType::kF64);
  EXPECT_THAT((*outputs)[0], Has({2049.0009765625}));
}

TEST(Interpreter, CarriesTheActualSizeOfDynamicDimensions) {
  const auto outputs = RunText(R"(
    graph @g(%x: f32[4]) {
      %found = non_zero(%x) : i64[1,n<=4]
      %flat = reshape(%found) {shape = [4]} : i64[n<=4]
      %values = gather(%x, %flat) {axis = 0} : f32[n<=4]
      return "values": %values
    })",
                               {F32({4}, {5, 0, 7, 0})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[0], HasShape({2}));
  EXPECT_THAT((*outputs)[0], Has({5, 7}));
}

constexpr std::string_view kIf = R"(
    graph @g(%c: bool[], %x: f32[1]) {
      %r = if(%c, %x) {
        graph(%a: f32[1]) {
          %y = neg(%a) : f32[1]
          return "": %y
        }
        graph(%b: f32[1]) {
          return "": %b
        }
      } : f32[1]
      return "r": %r
    })";

TEST(Interpreter, RunsOneBranch) {
  for (const double condition : {0.0, 1.0}) {
    const auto outputs = RunText(kIf, {Make(DType::kBool, {}, {condition}), F32({1}, {3})});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_THAT((*outputs)[0], Has({condition == 0 ? 3.0 : -3.0}));
  }
}

// Doubles x until it reaches the limit or all trips are used up, and counts the iterations.
constexpr std::string_view kLoop = R"(
    graph @g(%trips: i64[], %start: bool[], %x: f32[], %last: i64[]) {
      %r, %n = loop(%trips, %start, %x, %last) {
        graph(%i: i64[], %c: bool[], %v: f32[], %previous: i64[]) {
          %limit = constant() {value = f32[]<100>} : f32[]
          %w = add(%v, %v) : f32[]
          %go = less(%w, %limit) : bool[]
          return "": %go, "": %w, "": %i
        }
      } : f32[], i64[]
      return "r": %r, "n": %n
    })";

TEST(Interpreter, ABudgetEndsALoop) {
  const absl::StatusOr<std::unique_ptr<Graph>> graph = ParseGraph(kLoop);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto run = [&](int64_t trips, WorkBudget& budget) {
    return Interpreter()
        .RunWithin(**graph,
                   {Tensor::FromInts(std::vector<int64_t>{trips}).Reshaped({}),
                    Tensor::Scalar(DType::kBool, 1), F32({}, {0}), I64({}, {-1})},
                   budget)
        .status();
  };
  WorkBudget work(int64_t{1} << 18, INT64_MAX);
  EXPECT_TRUE(run(10, work).ok());
  EXPECT_FALSE(work.spent());
  EXPECT_TRUE(absl::IsResourceExhausted(run(INT64_MAX, work)));
  EXPECT_TRUE(work.spent());
  EXPECT_TRUE(absl::IsResourceExhausted(run(0, work)));
  WorkBudget bytes(INT64_MAX, int64_t{1} << 10);
  EXPECT_TRUE(absl::IsResourceExhausted(run(INT64_MAX, bytes)));
}

TEST(Interpreter, LoopsUntilTheTripsOrTheConditionEnd) {
  const auto run = [](double trips, double start) {
    return RunText(kLoop, {I64({}, {trips}), Make(DType::kBool, {}, {start}), F32({}, {3}), I64({}, {-1})});
  };
  const auto check = [&](double trips, double start, double value, double last) {
    const auto outputs = run(trips, start);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_THAT((*outputs)[0], Has({value}));
    EXPECT_THAT((*outputs)[1], Has({last}));
  };
  check(3, 1, 24, 2);
  check(1000, 1, 192, 5);
  check(1000, 0, 3, -1);
  check(0, 1, 3, -1);
  check(-5, 1, 3, -1);
}

TEST(Interpreter, RunsFusedRegionsAndIgnoresLayouts) {
  const auto outputs = RunText(R"(
    graph @g(%x: f32[1,3]) {
      %b = layout_transform(%x) {block = 8, blocked_axis = 1} : f32[1,3]{c1/8}
      %p = layout_transform(%b) {block = 1, blocked_axis = -1} : f32[1,3]
      %r = fused(%p) {
        graph(%a: f32[1,3]) {
          %s = relu(%a) : f32[1,3]
          %t = add(%s, %s) : f32[1,3]
          return "": %t
        }
      } : f32[1,3]
      return "r": %r
    })",
                               {F32({1, 3}, {-1, 2, 3})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[0], Has({0, 4, 6}));
}

TEST(Interpreter, RefusesInputsOfAnotherType) {
  constexpr std::string_view kText = "graph @g(%x: f32[2]) { return \"x\": %x }";
  EXPECT_THAT(RunText(kText, {}).status().message(), HasSubstr("0 inputs given, the graph takes 1"));
  EXPECT_THAT(RunText(kText, {F32({3}, {1, 2, 3})}).status().message(),
              HasSubstr("input \"x\" is f32[3], expected f32[2]"));
  EXPECT_FALSE(RunText(kText, {I64({2}, {1, 2})}).ok());
}

TEST(Interpreter, ErrorsNameTheNode) {
  const auto outputs = RunText(R"(
    graph @g(%x: f32[2], %i: i64[1]) {
      %y = gather(%x, %i) {axis = 0} @"embedding" : f32[1]
      return "y": %y
    })",
                               {F32({2}, {1, 2}), I64({1}, {5})});
  EXPECT_THAT(outputs.status().message(),
              HasSubstr("node \"embedding\": gather: index 5 in an axis of size 2"));
}

TEST(Interpreter, RefusesValuesThatAreTooLarge) {
  const auto outputs = RunText(R"(
    graph @g(%x: f32[1]) {
      %y = broadcast(%x) {shape = [8589934592]} : f32[8589934592]
      return "y": %y
    })",
                               {F32({1}, {1})});
  EXPECT_THAT(outputs.status().message(), HasSubstr("broadcast"));
  EXPECT_FALSE(outputs.ok());
}

TEST(Compare, AllowsWhatTheToleranceSays) {
  const Tensor expected = F32({3}, {1, 100, 0});
  const Tolerance tolerance{0.1, 0.01};
  EXPECT_TRUE(Compare(expected, F32({3}, {1.1, 101, 0.09}), tolerance).ok());
  const Comparison comparison = Compare(expected, F32({3}, {1.1, 102, 0.09}), tolerance);
  EXPECT_EQ(comparison.mismatches, 1);
  EXPECT_EQ(comparison.worst, 1);
  EXPECT_EQ(comparison.max_absolute_error, 2);
  EXPECT_NEAR(comparison.max_relative_error, 0.1, 1e-6);
  EXPECT_NEAR(comparison.mismatch_share(), 1.0 / 3, 1e-12);
  EXPECT_THAT(comparison.ToString(), HasSubstr("1 of 3 elements differ"));
  EXPECT_THAT(comparison.ToString(), HasSubstr("worst [1]: 102, expected 100"));
}

TEST(Compare, NonFiniteValues) {
  const Tensor expected = F32({4}, {NAN, INFINITY, -INFINITY, 1});
  EXPECT_TRUE(Compare(expected, expected, Tolerance()).ok());
  EXPECT_EQ(Compare(expected, F32({4}, {1, -INFINITY, 1e30, NAN}), {1, 1}).mismatches, 4);
}

TEST(Compare, IntegersAreExact) {
  EXPECT_TRUE(Compare(I64({1}, {5}), I64({1}, {5}), OperatorTolerance(DType::kI64)).ok());
  EXPECT_FALSE(Compare(I64({1}, {5}), I64({1}, {6}), OperatorTolerance(DType::kI64)).ok());
  Tensor a(DType::kU64, {1});
  Tensor b(DType::kU64, {1});
  a.as_mutable<uint64_t>()[0] = ~uint64_t{0};
  b.as_mutable<uint64_t>()[0] = ~uint64_t{0} - 1;  // equal as doubles
  EXPECT_EQ(Compare(a, b, Tolerance()).max_absolute_error, 1);
  EXPECT_FALSE(Compare(a, b, Tolerance()).ok());
}

TEST(Compare, TypesMustAgree) {
  EXPECT_EQ(Compare(F32({1}, {1}), F32({1, 1}, {1}), Tolerance()).ToString(), "is f32[1,1], expected f32[1]");
  EXPECT_FALSE(Compare(F32({1}, {1}), I64({1}, {1}), {1, 1}).ok());
}

TEST(Compare, NetworkToleranceFollowsTheRootMeanSquare) {
  EXPECT_NEAR(NetworkTolerance(F32({2}, {300, -400})).absolute, 1e-5 * std::sqrt(125000), 1e-9);
  EXPECT_EQ(NetworkTolerance(F32({2}, {0, 0})).absolute, 1e-5);
}

TEST(Compare, Cosine) {
  EXPECT_NEAR(Compare(F32({2}, {1, 0}), F32({2}, {1, 1}), Tolerance()).cosine, std::sqrt(0.5), 1e-12);
  EXPECT_EQ(Compare(F32({2}, {0, 0}), F32({2}, {0, 0}), Tolerance()).cosine, 1);
}

TEST(Compare, ContractionsByTheirMagnitude) {
  // The products sum to 2^24 in magnitude and cancel to 0: a step of 1 is one roundoff.
  const ContractionBound bound{Make(DType::kF64, {1}, {0x1p24}), 1, 0x1p-24};
  EXPECT_TRUE(Compare(F32({1}, {0}), F32({1}, {1}), bound).ok());
  EXPECT_FALSE(Compare(F32({1}, {0}), F32({1}, {1.5}), bound).ok());
  EXPECT_FALSE(Compare(F32({2}, {0, 0}), F32({2}, {0, 0}), bound).ok());
}

}  // namespace
}  // namespace attune::reference
