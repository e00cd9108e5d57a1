#include "base/processors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::Eq;
using ::testing::Optional;

// Returns the limit of a system with these files.
std::optional<double> LimitBy(const std::map<std::string, std::string>& files) {
  const testing::TemporaryFolder root;
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = root.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  return CpuLimit(root.path());
}

TEST(CpuLimit, Version2) {
  EXPECT_THAT(LimitBy({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "150000 100000\n"}}),
              Optional(1.5));
  EXPECT_EQ(LimitBy({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "max 100000\n"}}),
            std::nullopt);
}

TEST(CpuLimit, TheLeastOfTheGroupsAroundCounts) {
  EXPECT_THAT(LimitBy({{"proc/self/cgroup", "0::/pods/one\n"},
                       {"sys/fs/cgroup/pods/cpu.max", "400000 100000\n"},
                       {"sys/fs/cgroup/pods/one/cpu.max", "800000 100000\n"}}),
              Optional(4.0));
  EXPECT_THAT(LimitBy({{"proc/self/cgroup", "0::/pods/one\n"},
                       {"sys/fs/cgroup/pods/cpu.max", "max 100000\n"},
                       {"sys/fs/cgroup/pods/one/cpu.max", "300000 100000\n"}}),
              Optional(3.0));
}

TEST(CpuLimit, Version1) {
  const std::string groups = "3:cpu,cpuacct:/docker/4d12\n2:cpuset:/docker/4d12\n0::/\n";
  EXPECT_THAT(LimitBy({{"proc/self/cgroup", groups},
                       {"sys/fs/cgroup/cpu,cpuacct/docker/4d12/cpu.cfs_quota_us", "200000\n"},
                       {"sys/fs/cgroup/cpu,cpuacct/docker/4d12/cpu.cfs_period_us", "100000\n"}}),
              Optional(2.0));
  EXPECT_EQ(LimitBy({{"proc/self/cgroup", groups},
                     {"sys/fs/cgroup/cpu/docker/4d12/cpu.cfs_quota_us", "-1\n"},
                     {"sys/fs/cgroup/cpu/docker/4d12/cpu.cfs_period_us", "100000\n"}}),
            std::nullopt);
}

// A container sees its own group as the root.
TEST(CpuLimit, AGroupThatIsNotVisibleIsTheRoot) {
  EXPECT_THAT(LimitBy({{"proc/self/cgroup", "3:cpu,cpuacct:/docker/4d12\n"},
                       {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"},
                       {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}),
              Optional(2.0));
}

TEST(CpuLimit, FilesThatSayNothingSetNoLimit) {
  EXPECT_EQ(LimitBy({}), std::nullopt);
  for (const std::string text : {"", "\n", "0 100000\n", "100000 0\n", "-1 100000\n", "nan 100000\n", "x"})
    EXPECT_EQ(LimitBy({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", text}}), std::nullopt)
        << text;
  for (const std::string text : {"", "::", "0:", "0::group\n", "cpu\n"})
    EXPECT_EQ(LimitBy({{"proc/self/cgroup", text}, {"sys/fs/cgroup/cpu.max", "100000 100000\n"}}),
              text == "::" ? std::optional(1.0) : std::nullopt)
        << text;
}

TEST(Processors, AreWithinTheLimit) {
  EXPECT_EQ(ProcessorsWithin(64, std::nullopt), 64);
  EXPECT_EQ(ProcessorsWithin(64, 2.0), 2);
  EXPECT_EQ(ProcessorsWithin(64, 2.9), 2);
  EXPECT_EQ(ProcessorsWithin(64, 0.25), 1);
  EXPECT_EQ(ProcessorsWithin(2, 1e300), 2);
  EXPECT_EQ(ProcessorsWithin(0, std::nullopt), 1);
}

TEST(Processors, FollowTheThreadsAffinity) {
  const ProcessorSet before = ProcessorSet::OfThisThread();
  int first = 0;
  while (!before.Has(first)) ++first;
  ASSERT_TRUE(ProcessorSet(std::array{first}).GiveToThisThread());
  EXPECT_EQ(Processors(), 1);
  ASSERT_TRUE(before.GiveToThisThread());
  EXPECT_LE(Processors(), before.count());
}

}  // namespace
}  // namespace attune
