#include "fleet/host/stays_off_lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/processor_set.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two cores of two hyper-threads, {0, 2} and {1, 3}.
DeviceInfo FourProcessors(std::vector<int> usable) {
  DeviceInfo device;
  device.usable = std::move(usable);
  for (int number = 0; number < 4; ++number) device.processors.push_back({number, number % 2, 0});
  return device;
}

TEST(ProcessorsBeside, AreThoseThatDisturbLeast) {
  const DeviceInfo all = FourProcessors({0, 1, 2, 3});
  EXPECT_THAT(ProcessorsBeside(all, {1}), ElementsAre(0, 2));
  EXPECT_THAT(ProcessorsBeside(all, {1, 3}), ElementsAre(0, 2));
  EXPECT_THAT(ProcessorsBeside(all, {2, 3}), ElementsAre(0, 1));  // of the same cores, but not timed on
  EXPECT_THAT(ProcessorsBeside(all, {0, 1, 2, 3}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ProcessorsBeside(FourProcessors({1, 3}), {3}), ElementsAre(1));
  EXPECT_THAT(ProcessorsBeside(FourProcessors({3}), {3}), ElementsAre(3));
}

TEST(StaysOffLease, MovesAwayAndBack) {
  std::vector<std::vector<int>> moves;
  StaysOffLease stays_off(FourProcessors({0, 1, 2}), [&](std::span<const int> processors) {
    moves.emplace_back(processors.begin(), processors.end());
  });
  stays_off.Observe(HostLeased{.is_exclusive = false, .processors = {0, 1, 2}});
  stays_off.Observe(HostBatchOver{});
  EXPECT_THAT(moves, IsEmpty());
  for (const HostEvent& end : {HostEvent(HostBatchOver{}), HostEvent(HostLost{})}) {
    moves.clear();
    stays_off.Observe(HostLeased{.is_exclusive = true, .processors = {2}});
    stays_off.Observe(HostResult{});
    stays_off.Observe(HostAlive{});
    EXPECT_THAT(moves, ElementsAre(ElementsAre(1)));
    stays_off.Observe(end);
    stays_off.Observe(end);
    EXPECT_THAT(moves, ElementsAre(ElementsAre(1), ElementsAre(0, 1, 2)));
  }
}

// Ascending.
std::vector<int> ProcessorsOfThisThread() {
  const ProcessorSet set = ProcessorSet::OfThisThread();
  std::vector<int> processors;
  for (int number = 0; number < kMaxProcessors; ++number)
    if (set.Has(number)) processors.push_back(number);
  return processors;
}

TEST(PinOwnThreads, LeavesProcessesThatWereStartedBefore) {
  const std::vector<int> before = ProcessorsOfThisThread();
  ASSERT_FALSE(before.empty());
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1) _exit(2);
    _exit(ProcessorsOfThisThread() == before ? 0 : 1);
  }
  PinOwnThreads({before.data(), 1});
  const std::vector<int> pinned = ProcessorsOfThisThread();
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  PinOwnThreads(before);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(pinned, ElementsAre(before.front()));
  EXPECT_EQ(ProcessorsOfThisThread(), before);
  for (const int end : ends) close(end);
}

}  // namespace
}  // namespace attune
