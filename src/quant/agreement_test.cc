#include "quant/agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

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
  for (const std::string_view name : AgreementNames()) {
    ASSERT_TRUE(FindAgreement(name).has_value()) << name;
    const Sample map = {Floats32({1, 1, 1, 2}, {1, 2})};
    EXPECT_EQ((*FindAgreement(name))(map, map), 1) << name;
  }
  EXPECT_FALSE(FindAgreement("luck").has_value());
}

}  // namespace
}  // namespace attune::quant
