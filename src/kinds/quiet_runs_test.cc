#include "kinds/quiet_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Runs {
  std::vector<double> milliseconds;
  double waited_share = 0;
};

class QuietRunsTest : public ::testing::Test {
 protected:
  // Runs on a device whose disturbance at each attempt is given.
  absl::StatusOr<Runs> Run(const std::vector<double>& shares, bool is_wanted = true) {
    pauses_.clear();
    size_t attempt = 0;
    return RunQuietly<Runs>(
        [&]() -> absl::StatusOr<Runs> {
          if (attempt == shares.size()) return absl::UnavailableError("it is gone");
          const double share = shares[attempt++];
          return Runs{.milliseconds = {1 + share}, .waited_share = share};
        },
        [&](double seconds) {
          pauses_.push_back(seconds);
          return is_wanted;
        });
  }

  std::vector<double> pauses_;
};

TEST_F(QuietRunsTest, AQuietDeviceRunsOnce) {
  EXPECT_EQ(Run({0.01})->waited_share, 0.01);
  EXPECT_THAT(pauses_, IsEmpty());
}

TEST_F(QuietRunsTest, ADisturbedOneIsTriedAgainUntilItIsQuiet) {
  const auto runs = Run({3, 0.5, 0.02});
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_EQ(runs->waited_share, 0.02);
  EXPECT_THAT(runs->milliseconds, ElementsAre(1.02));
  EXPECT_THAT(pauses_, ElementsAre(1, 2));
}

TEST_F(QuietRunsTest, TheLeastDisturbedRunsAreLeftIfNoneIsQuiet) {
  EXPECT_EQ(Run({3, 0.5, 0.9, 2})->waited_share, 0.5);
  EXPECT_THAT(pauses_, ElementsAre(1, 2, 4));
}

TEST_F(QuietRunsTest, NobodyWaitsForWhatNobodyWants) {
  EXPECT_EQ(Run({3, 0.01}, /*is_wanted=*/false)->waited_share, 3);
  EXPECT_TRUE(absl::IsUnavailable(Run({3}).status()));
}

}  // namespace
}  // namespace attune
