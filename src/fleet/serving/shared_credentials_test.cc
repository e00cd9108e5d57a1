#include "fleet/serving/shared_credentials.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

using Shared = SharedCredentials;

TEST(SharedCredentials, OneThatIsCutOffNowAndThenIsNotSuspected) {
  Shared shared;
  for (double now = 0; now < 10 * Shared::kWithinSeconds; now += Shared::kWithinSeconds / 2) {
    EXPECT_FALSE(shared.NoteReplaced("a", now));
    EXPECT_FALSE(shared.IsShared("a", now));
  }
}

TEST(SharedCredentials, TwoThatDriveEachOtherOutAreToldOnce) {
  Shared shared;
  int told = 0;
  for (int i = 0; i < 1000; ++i) told += shared.NoteReplaced("a", 0.5 * i) ? 1 : 0;
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(shared.NoteReplaced("b", 500));
  EXPECT_TRUE(shared.IsShared("a", 500));
  EXPECT_FALSE(shared.IsShared("b", 500));
  EXPECT_EQ(shared.NumShared(500), 1);
  // It is forgotten, and told again if it comes again.
  const double later = 500 + Shared::kRememberedSeconds;
  EXPECT_EQ(shared.NumShared(later), 0);
  for (int i = 0; i < 1000; ++i) told += shared.NoteReplaced("a", later + 0.5 * i) ? 1 : 0;
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace attune
