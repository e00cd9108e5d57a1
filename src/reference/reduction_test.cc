#include <limits>

#include "reference/evaluate_for_test.h"

namespace attune::reference {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Reduction, OverAxes) {
  const Tensor x = Iota({2, 3});
  const Tensor rows = Evaluate(Op::kReduceSum, {x}, {{"axes", Ints{1}}});
  EXPECT_THAT(rows, HasShape({2, 1}));
  EXPECT_THAT(rows, Has({3, 12}));
  EXPECT_THAT(Evaluate(Op::kReduceMean, {x}, {{"axes", Ints{0}}, {"keepdims", int64_t{0}}}),
              Has({1.5, 2.5, 3.5}));
  EXPECT_THAT(Evaluate(Op::kReduceProd, {x}, {{"axes", Ints{1}}}), Has({0, 60}));
  EXPECT_THAT(Evaluate(Op::kReduceMax, {x}, {{"axes", Ints{0, 1}}}), Has({5}));
  EXPECT_THAT(Evaluate(Op::kReduceMin, {x}, {{"axes", Ints{0}}}), Has({0, 1, 2}));
  EXPECT_THAT(Evaluate(Op::kReduceSum, {x}, {{"axes", Ints{}}}), Has({0, 1, 2, 3, 4, 5}));
}

TEST(Reduction, SumsInDouble) {
  // In f32 the ones would vanish beside 2^24.
  EXPECT_THAT(Evaluate(Op::kReduceSum, {F32({3}, {0x1p24, 1, 1})}, {{"axes", Ints{0}}}), Has({0x1p24 + 2}));
}

TEST(Reduction, OfNothing) {
  const Tensor empty = F32({0, 2}, {});
  EXPECT_THAT(Evaluate(Op::kReduceSum, {empty}, {{"axes", Ints{0}}}), Has({0, 0}));
  EXPECT_THAT(Evaluate(Op::kReduceProd, {empty}, {{"axes", Ints{0}}}), Has({1, 1}));
  EXPECT_THAT(Evaluate(Op::kReduceMax, {empty}, {{"axes", Ints{0}}}), Has({-kInf, -kInf}));
  EXPECT_THAT(Evaluate(Op::kReduceMean, {empty}, {{"axes", Ints{0}}}), Has({kNan, kNan}));
  EXPECT_THAT(Evaluate(Op::kReduceMin, {Make(DType::kI8, {0}, {})}, {{"axes", Ints{0}}}), Has({127}));
}

TEST(Reduction, OfIntegersAndBools) {
  EXPECT_THAT(Evaluate(Op::kReduceSum, {Make(DType::kU8, {2}, {200, 100})}, {{"axes", Ints{0}}}), Has({44}));
  EXPECT_THAT(Evaluate(Op::kReduceMean, {Make(DType::kI32, {2}, {-4, -3})}, {{"axes", Ints{0}}}), Has({-3}));
  const Tensor bools = Make(DType::kBool, {2, 2}, {1, 0, 1, 1});
  EXPECT_THAT(Evaluate(Op::kReduceMax, {bools}, {{"axes", Ints{1}}}), Has({1, 1}));
  EXPECT_THAT(Evaluate(Op::kReduceMin, {bools}, {{"axes", Ints{1}}}), Has({0, 1}));
}

TEST(Reduction, ExtremaLetNanWin) {
  EXPECT_THAT(Evaluate(Op::kReduceMax, {F32({3}, {1, kNan, 2})}, {{"axes", Ints{0}}}), Has({kNan}));
}

TEST(Reduction, ArgMaxAndArgMin) {
  const Tensor x = F32({2, 3}, {1, 5, 5, 2, 2, 7});
  EXPECT_THAT(Evaluate(Op::kArgMax, {x}, {{"axis", int64_t{1}}}), Has({1, 2}));
  EXPECT_THAT(Evaluate(Op::kArgMax, {x}, {{"axis", int64_t{1}}, {"select_last", int64_t{1}}}), Has({2, 2}));
  const Tensor least = Evaluate(Op::kArgMin, {x}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}});
  EXPECT_THAT(least, HasShape({3}));
  EXPECT_THAT(least, Has({0, 1, 0}));
}

TEST(Scan, RunningSumsAndProducts) {
  const Tensor x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto scan = [&](Op op, int64_t axis, int64_t exclusive, int64_t reverse) {
    return Evaluate(op, {x}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}});
  };
  EXPECT_THAT(scan(Op::kCumSum, 1, 0, 0), Has({1, 3, 6, 4, 9, 15}));
  EXPECT_THAT(scan(Op::kCumSum, 1, 1, 0), Has({0, 1, 3, 0, 4, 9}));
  EXPECT_THAT(scan(Op::kCumSum, 1, 0, 1), Has({6, 5, 3, 15, 11, 6}));
  EXPECT_THAT(scan(Op::kCumSum, 0, 1, 1), Has({4, 5, 6, 0, 0, 0}));
  EXPECT_THAT(scan(Op::kCumProd, 1, 0, 0), Has({1, 2, 6, 4, 20, 120}));
  EXPECT_THAT(scan(Op::kCumProd, 1, 1, 0), Has({1, 1, 2, 1, 4, 20}));
}

TEST(Scan, TopKPrefersTheLowerIndex) {
  const Tensor x = F32({1, 5}, {3, 7, 7, 1, kNan});
  const std::vector<Tensor> top = EvaluateAll(Op::kTopK, {x}, {{"axis", int64_t{1}}, {"k", int64_t{3}}});
  ASSERT_EQ(top.size(), 2);
  EXPECT_THAT(top[0], Has({kNan, 7, 7}));
  EXPECT_THAT(top[1], Has({4, 1, 2}));
  const std::vector<Tensor> least =
      EvaluateAll(Op::kTopK, {x}, {{"axis", int64_t{1}}, {"k", int64_t{2}}, {"largest", int64_t{0}}});
  EXPECT_THAT(least[0], Has({1, 3}));
  EXPECT_THAT(least[1], Has({3, 0}));
}

}  // namespace
}  // namespace attune::reference
