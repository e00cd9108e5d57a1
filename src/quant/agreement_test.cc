#include "quant/agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "base/random.h"

namespace attune::quant {
namespace {

Tensor Floats32(const Shape& shape, const std::vector<float>& values) {
  return Tensor::FromFloats(values, shape);
}

TEST(Agreement, OfClassifiersIsTheShareOfEqualClasses) {
  const Sample expected = {Floats32({2, 3}, {0, 1, 2, 5, 1, 0})};
  const Sample actual = {Floats32({2, 3}, {0, 2, 1, 9, 1, 0})};
  EXPECT_EQ(DefaultAgreement(expected, actual), 0.5);
  EXPECT_EQ(DefaultAgreement(expected, expected), 1);
}

// The estimate is close to the share of classes that noise really changes.
TEST(Agreement, OfClassifiersIsEstimated) {
  constexpr int64_t kRows = 20000, kClasses = 10;
  Random random(3);
  Tensor expected(DType::kF32, {kRows, kClasses}), actual(DType::kF32, {kRows, kClasses});
  for (int64_t i = 0; i < kRows * kClasses; ++i) {
    expected.SetDouble(i, random.Normal());
    actual.SetDouble(i, expected.ToDouble(i) + 0.02 * random.Normal());
  }
  const double changed = 1 - TopOneAgreement({expected}, {actual});
  EXPECT_GT(changed, 0.01);
  EXPECT_NEAR(1 - LikelyTopOneAgreement({expected}, {actual}), changed, 0.1 * changed);
  EXPECT_EQ(LikelyTopOneAgreement({expected}, {expected}), 1);
  EXPECT_EQ(DefaultCriterion().estimate({expected}, {actual}), LikelyTopOneAgreement({expected}, {actual}));
}

TEST(Agreement, OfOtherNetworksIsTheError) {
  EXPECT_NEAR(DefaultAgreement({Floats32({2}, {3, 4})}, {Floats32({2}, {3, 4.5f})}), 0.9, 1e-12);
  EXPECT_EQ(DefaultAgreement({Floats32({2}, {1, 0})}, {Floats32({2}, {-1, 0})}), 0);
  EXPECT_EQ(DefaultAgreement({Floats32({2}, {0, 0})}, {Floats32({2}, {0, 0})}), 1);
  EXPECT_EQ(DefaultAgreement({Floats32({2}, {1, 1})}, {Floats32({1}, {1})}), 0);
}

TEST(Agreement, ByTheCosine) {
  EXPECT_NEAR(CosineAgreement({Floats32({2}, {1, 0})}, {Floats32({2}, {1, 1})}), std::sqrt(0.5), 1e-12);
  EXPECT_EQ(CosineAgreement({Floats32({2}, {1, 0})}, {Floats32({2}, {-1, 0})}), 0);
  EXPECT_EQ(CosineAgreement({Floats32({2}, {0, 0})}, {Floats32({2}, {0, 0})}), 1);
  EXPECT_EQ(CosineAgreement({Floats32({2}, {1, 1})}, {Floats32({1}, {1})}), 0);
}

TEST(Agreement, OfMapsCountsPixelsOfEachClass) {
  // Pixels of classes 0, 0, 1, 1 and 0, 1, 1, 1, in either layout.
  const Sample expected = {Floats32({1, 2, 2, 2}, {1, 0, 1, 0, 0, 1, 0, 1})};
  const Sample actual = {Floats32({1, 2, 2, 2}, {1, 0, 0, 1, 0, 1, 0, 1})};
  const double overlap = (1.0 / 2 + 2.0 / 3) / 2;
  EXPECT_NEAR(OverlapAgreement(expected, actual), overlap, 1e-12);
  const Sample channels_first = {Floats32({1, 2, 1, 4}, {1, 1, 0, 0, 0, 0, 1, 1})};
  const Sample first_actual = {Floats32({1, 2, 1, 4}, {1, 0, 0, 0, 0, 1, 1, 1})};
  EXPECT_NEAR(OverlapAgreement(channels_first, first_actual), overlap, 1e-12);
  EXPECT_EQ(OverlapAgreement(expected, expected), 1);
}

TEST(Agreement, AreFoundByName) {
  for (const std::string_view name : {"top-1", "iou", "error", "cosine"}) {
    const std::optional<Criterion> found = FindCriterion(name);
    ASSERT_TRUE(found.has_value()) << name;
    const Sample map = {Floats32({1, 1, 1, 2}, {1, 2})};
    EXPECT_EQ(found->value(map, map), 1) << name;
    EXPECT_EQ(found->estimate(map, map), 1) << name;
  }
  EXPECT_FALSE(FindCriterion("luck").has_value());
}

}  // namespace
}  // namespace attune::quant
