#include "graph/attributes.h"

#include <gtest/gtest.h>

#include <limits>

namespace attune {
namespace {

TEST(Attributes, GetWhatWasSetOrTheDefault) {
  Attributes attributes = {{"axis", int64_t{2}}, {"alpha", 0.5}, {"mode", std::string("edge")}};
  attributes.Set("pads", Ints{1, 2});
  attributes.Set("to", DType::kU8);
  EXPECT_EQ(attributes.Int("axis"), 2);
  EXPECT_EQ(attributes.Int("group", 1), 1);
  EXPECT_TRUE(attributes.Bool("axis"));
  EXPECT_FALSE(attributes.Bool("keepdims"));
  EXPECT_EQ(attributes.Float("alpha", 1), 0.5);
  EXPECT_EQ(attributes.String("mode", "constant"), "edge");
  EXPECT_EQ(attributes.IntList("pads"), (Ints{1, 2}));
  EXPECT_EQ(attributes.Type("to"), DType::kU8);
  attributes.Set("axis", int64_t{3});
  EXPECT_EQ(attributes.Int("axis"), 3);
  attributes.Remove("axis");
  attributes.Remove("axis");
  EXPECT_FALSE(attributes.Has("axis"));
}

TEST(Attributes, CompareByBits) {
  const auto with = [](Attribute value) { return Attributes{{"a", std::move(value)}}; };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with(nan), with(nan));
  EXPECT_FALSE(with(0.0) == with(-0.0));
  EXPECT_EQ(with(Floats{nan, 1}), with(Floats{nan, 1}));
  EXPECT_FALSE(with(Floats{1}) == with(Floats{1, 1}));
  EXPECT_FALSE(with(Ints{}) == with(Floats{}));
  EXPECT_FALSE(with(int64_t{1}) == with(1.0));
  EXPECT_FALSE(with(std::string("a")) == with(std::string("b")));
  EXPECT_FALSE(with(DType::kF16) == with(DType::kBF16));
  EXPECT_EQ(with(Tensor::Scalar(DType::kI8, 1)), with(Tensor::Scalar(DType::kI8, 1)));
  EXPECT_FALSE(with(Tensor::Scalar(DType::kI8, 1)) == with(Tensor::Scalar(DType::kU8, 1)));
  EXPECT_FALSE(with(int64_t{1}) == Attributes());
}

}  // namespace
}  // namespace attune
