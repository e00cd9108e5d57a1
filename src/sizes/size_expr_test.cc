#include "sizes/size_expr.h"

#include <gtest/gtest.h>

#include <limits>

namespace attune {
namespace {

const std::vector<OpenDim> kBatchAndWidth = {{.name = "batch"}, {.name = "width"}};
SizeExpr Batch() { return SizeExpr::Of({0}); }
SizeExpr Width() { return SizeExpr::Of({1}); }

TEST(SizeExpr, EqualPolynomialsHaveOneForm) {
  EXPECT_EQ((Batch() + 1) * (Batch() - 1), Batch() * Batch() - 1);
  EXPECT_EQ(Batch() * Width() - Width() * Batch(), SizeExpr(0));
  EXPECT_FALSE(Batch() == Width());
  EXPECT_TRUE((Batch() - Batch() + 3).is_constant());
  EXPECT_TRUE((Batch() * Width()).Mentions(1));
  EXPECT_FALSE(Batch().Mentions(1));
}

TEST(SizeExpr, HasAValueAtEachPoint) {
  const SizeExpr half = SizeExpr::Of({.dim = 1, .add = 1, .divisor = 2});
  EXPECT_EQ((SizeExpr(12) * Batch() * half + 5).At(std::vector<int64_t>{2, 7}), 12 * 2 * 4 + 5);
  EXPECT_EQ(SizeExpr::Of({.dim = 0, .add = -3, .divisor = 2}).At(std::vector<int64_t>{0, 0}), -2);  // down
  EXPECT_EQ(Batch().At(std::vector<int64_t>{9, 0}), 9);
}

TEST(SizeExpr, AnOverflowHasNoValue) {
  const std::vector<int64_t> most = {std::numeric_limits<int64_t>::max(), 2};
  EXPECT_FALSE((Batch() * Width()).At(most).has_value());
  EXPECT_FALSE((Batch() + 1).At(most).has_value());
  EXPECT_FALSE(SizeExpr::Of({.dim = 0, .add = 1}).At(most).has_value());
}

TEST(SizeExpr, IsWrittenWithTheNamesOfItsDimensions) {
  const SizeExpr half = SizeExpr::Of({.dim = 1, .add = 1, .divisor = 2});
  EXPECT_EQ(ToString(SizeExpr(0), kBatchAndWidth), "0");
  EXPECT_EQ(ToString(Batch() * 12 * Width() + 1, kBatchAndWidth), "12·batch·width + 1");
  EXPECT_EQ(ToString(half - Batch(), kBatchAndWidth), "-batch + floor((width + 1) / 2)");
}

}  // namespace
}  // namespace attune
