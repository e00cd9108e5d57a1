#include "base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/testing/kept_progress.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

TEST(Cancellation, GoesToChildrenAndNotToParents) {
  Cancellation all, other(&all), part(&all), piece(&part);
  EXPECT_FALSE(piece.is_cancelled());
  part.Cancel();
  EXPECT_TRUE(part.is_cancelled());
  EXPECT_TRUE(piece.is_cancelled());
  EXPECT_FALSE(all.is_cancelled());
  EXPECT_FALSE(other.is_cancelled());
  all.Cancel();
  EXPECT_TRUE(other.is_cancelled());
}

Cancellation by_signal;

TEST(Cancellation, MayComeFromASignal) {
  const auto before = signal(SIGUSR1, [](int) { by_signal.Cancel(); });
  raise(SIGUSR1);
  signal(SIGUSR1, before);
  EXPECT_TRUE(by_signal.is_cancelled());
}

TEST(WorkControl, ReportsUntilItIsCancelled) {
  testing::KeptProgress progress(3);
  const WorkControl control = progress.control();
  EXPECT_TRUE(control.Continue("reading").ok());
  EXPECT_TRUE(control.Continue("packing", 0, 5).ok());
  EXPECT_TRUE(control.Continue("packing", 1, 5).ok());
  const absl::Status status = control.Continue("packing", 2, 5);
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(status.message(), "packing was cancelled");
  EXPECT_EQ(progress.reports(), 3);
  EXPECT_THAT(progress.stages(), ElementsAre("reading", "packing"));
  EXPECT_TRUE(progress.is_within_total());
}

TEST(WorkControl, NobodyNeedsToAskOrListen) { EXPECT_TRUE(WorkControl().Continue("packing").ok()); }

}  // namespace
}  // namespace attune
