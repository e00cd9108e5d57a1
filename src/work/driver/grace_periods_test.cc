#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "work/driver/job_runners.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GracePeriods, ExpireUnlessTheStageEndsBefore) {
  GracePeriods periods;
  periods.Begin(1, 10);
  periods.Begin(2, 12);
  periods.Begin(3, 10);
  EXPECT_THAT(periods.Expired(9), IsEmpty());
  periods.End(3);
  periods.End(7);  // has none
  EXPECT_THAT(periods.Expired(10), ElementsAre(1));
  EXPECT_THAT(periods.Expired(20), ElementsAre(1, 2));
  periods.Begin(1, 30);
  EXPECT_THAT(periods.Expired(20), ElementsAre(2));
}

}  // namespace
}  // namespace attune
