#include "runtime/strided.h"

#include <gtest/gtest.h>

#include <vector>

namespace attune {
namespace {

TEST(StridedTest, TellsWhatIsContiguous) {
  const int64_t bounds[] = {4, 3, 5};
  EXPECT_TRUE(IsContiguous(std::vector<int64_t>{2, 3, 5}, bounds));
  EXPECT_FALSE(IsContiguous(std::vector<int64_t>{2, 2, 5}, bounds));
  EXPECT_FALSE(IsContiguous(std::vector<int64_t>{4, 3, 4}, bounds));
  EXPECT_TRUE(IsContiguous(std::vector<int64_t>{1, 2, 5}, bounds));
  EXPECT_TRUE(IsContiguous(std::vector<int64_t>{1, 1, 4}, bounds));
  EXPECT_TRUE(IsContiguous(std::vector<int64_t>{4, 3, 0}, bounds));
  EXPECT_TRUE(IsContiguous({}, {}));
}

TEST(StridedTest, CopiesBetweenStrides) {
  const int64_t from_bounds[] = {3, 4, 2};
  const int64_t to_bounds[] = {2, 3, 5};
  const int64_t actual[] = {2, 3, 2};
  std::vector<int16_t> from(24);
  for (int i = 0; i < 24; ++i) from[i] = static_cast<int16_t>(i + 1);
  std::vector<int16_t> to(30, 0);
  CopyStrided(CpuDevice(), reinterpret_cast<std::byte*>(to.data()), to_bounds,
              reinterpret_cast<const std::byte*>(from.data()), from_bounds, actual, sizeof(int16_t));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 5; ++k) {
        EXPECT_EQ(to[(i * 3 + j) * 5 + k], k < 2 ? from[(i * 4 + j) * 2 + k] : 0);
      }
    }
  }
}

}  // namespace
}  // namespace attune
