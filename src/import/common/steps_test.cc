#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/random.h"
#include "import/common/sizes.h"

namespace attune::importing {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

TEST(CountSteps, CountsIntegersThatADoubleRounds) {
  constexpr int64_t k53 = int64_t{1} << 53;
  EXPECT_EQ(CountSteps(k53, k53 + 1, 1), 1);
  EXPECT_EQ(CountSteps(k53 + 1, k53 + 4, 2), 2);
  EXPECT_EQ(CountSteps(kMax - 3, kMax, 1), 3);
  EXPECT_EQ(CountSteps(kMin + 3, kMin, -1), 3);
  EXPECT_EQ(CountSteps(kMin, kMax, kMax), 3);
  EXPECT_EQ(CountSteps(std::numeric_limits<uint64_t>::max() - 2, std::numeric_limits<uint64_t>::max(), 1), 2);
  EXPECT_EQ(CountSteps(5, 2, 1), 0);
  EXPECT_EQ(CountSteps(2, 2, -1), 0);
}

TEST(CountSteps, IsHowOftenAStepStaysBeforeTheLimit) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const int64_t base = i % 3 == 0 ? kMax - 200 : i % 3 == 1 ? kMin + 200 : (int64_t{1} << 53) - 7;
    const int64_t start = base + random.Integer(-50, 50), limit = base + random.Integer(-50, 50);
    const int64_t step = random.Integer(1, 9) * (i % 2 == 0 ? 1 : -1);
    int64_t count = 0;
    for (int64_t at = start; step > 0 ? at < limit : at > limit; at += step) ++count;
    EXPECT_EQ(CountSteps(start, limit, step), count) << start << " " << limit << " " << step;
  }
}

TEST(CountSteps, CountsFloats) {
  EXPECT_EQ(CountSteps(0.5, 2.0, 0.5), 3);
  EXPECT_EQ(CountSteps(0, 1, 0.3), 4);
}

TEST(CountSteps, RefusesWhatIsNoNumberOfElements) {
  EXPECT_THROW(CountSteps(0, 1, 0), ImportFailure);
  EXPECT_THROW(CountSteps(0.5, 1, 0), ImportFailure);
  EXPECT_THROW(CountSteps(0, kMax, 1), ImportFailure);
  EXPECT_THROW(CountSteps(0, std::nan(""), 1), ImportFailure);
}

}  // namespace
}  // namespace attune::importing
