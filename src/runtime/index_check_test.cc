#include "runtime/index_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/random.h"

namespace attune {
namespace {

// "INDEX of SIZE", or "none".
template <typename T>
std::string Check(const std::vector<T>& indices, const std::vector<int64_t>& bounds,
                  const std::vector<int64_t>& actual, const std::vector<int64_t>& least,
                  const std::vector<int64_t>& sizes) {
  const uint8_t dtype = std::is_same_v<T, int32_t> ? kDTypeI32 : kDTypeI64;
  const std::optional<OutOfBounds> found = FindOutOfBounds(
      CpuDevice(), {reinterpret_cast<const std::byte*>(indices.data()), dtype, bounds, actual}, least, sizes);
  return found.has_value() ? std::to_string(found->index) + " of " + std::to_string(found->size) : "none";
}

TEST(IndexCheckTest, FindsTheFirst) {
  EXPECT_EQ(Check<int64_t>({0, 3, -4}, {3}, {3}, {-4}, {4}), "none");
  EXPECT_EQ(Check<int64_t>({0, 4, -5}, {3}, {3}, {-4}, {4}), "4 of 4");
  EXPECT_EQ(Check<int64_t>({0, -5, 4}, {3}, {3}, {-4}, {4}), "-5 of 4");
  EXPECT_EQ(Check<int32_t>({0, -1}, {2}, {2}, {0}, {4}), "-1 of 4");
  EXPECT_EQ(Check<int32_t>({7}, {}, {}, {0}, {7}), "7 of 7");
  EXPECT_EQ(Check<int32_t>({0}, {1}, {1}, {0}, {0}), "0 of 0");
}

TEST(IndexCheckTest, TakesTheEndsOfTheirTypes) {
  EXPECT_EQ(Check<int64_t>({INT64_MIN}, {1}, {1}, {-4}, {4}), "-9223372036854775808 of 4");
  EXPECT_EQ(Check<int64_t>({INT64_MAX}, {1}, {1}, {-4}, {4}), "9223372036854775807 of 4");
  EXPECT_EQ(Check<int64_t>({INT64_MIN, 5}, {2}, {2}, {INT64_MIN}, {INT64_MAX}), "none");
  EXPECT_EQ(Check<int64_t>({0}, {1}, {1}, {5}, {-5}), "0 of -5");
}

TEST(IndexCheckTest, EachColumnHasItsSize) {
  EXPECT_EQ(Check<int64_t>({3, 1, 0, 2}, {2, 2}, {2, 2}, {0, 0}, {4, 2}), "2 of 2");
  EXPECT_EQ(Check<int64_t>({3, 1, 4, 1}, {2, 2}, {2, 2}, {-4, -2}, {4, 2}), "4 of 4");
}

TEST(IndexCheckTest, IgnoresWhatIsBeyondTheActualShape) {
  EXPECT_EQ(Check<int64_t>({0, 1, 99, 1, 0, 99}, {2, 3}, {2, 2}, {0}, {2}), "none");
  EXPECT_EQ(Check<int64_t>({0, 1, 99, 1, 2, 99}, {2, 3}, {2, 2}, {0}, {2}), "2 of 2");
  EXPECT_EQ(Check<int64_t>({99, 99}, {2}, {0}, {0}, {2}), "none");
}

// Longer than what is looked at in one piece.
TEST(IndexCheckTest, FindsOneOfMany) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const auto count = static_cast<size_t>(random.Integer(1, 3000));
    std::vector<int64_t> indices(count);
    for (int64_t& index : indices) index = random.Integer(-9, 8);
    const int64_t columns = random.Integer(1, 3);
    const auto rows = static_cast<int64_t>(count) / columns;
    if (rows == 0) continue;
    const std::vector<int64_t> shape = {rows, columns};
    const std::vector<int64_t> least(columns, -9), sizes(columns, 9);
    EXPECT_EQ(Check(indices, shape, shape, least, sizes), "none");
    const auto at = static_cast<size_t>(random.Integer(0, rows * columns - 1));
    indices[at] = random.Integer(0, 1) == 0 ? 9 : -10;
    EXPECT_EQ(Check(indices, shape, shape, least, sizes), std::to_string(indices[at]) + " of 9");
  }
}

}  // namespace
}  // namespace attune
