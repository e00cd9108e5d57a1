#include "device/machine_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::Optional;

MachineFacts FactsFrom(const std::map<std::string, std::string>& files) {
  const testing::TemporaryFolder root;
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = root.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  return ReadMachineFacts(root.path());
}

TEST(MachineFacts, AreReadFromTheSystemsFiles) {
  const MachineFacts facts =
      FactsFrom({{"proc/cpuinfo", "processor\t: 0\nmodel name\t: Some Processor\n\nmodel name\t: Other\n"},
                 {"proc/sys/kernel/osrelease", "6.1.0-27-amd64\n"},
                 {"proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    600 kB\n"},
                 {"proc/loadavg", "1.25 0.50 0.25 1/100 4242\n"},
                 {"proc/self/cgroup", "0::/box\n"},
                 {"sys/fs/cgroup/box/cpu.max", "150000 100000\n"},
                 {"sys/fs/cgroup/box/memory.max", "512000\n"},
                 {"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"}});
  EXPECT_EQ(facts.processor, "Some Processor");
  EXPECT_EQ(facts.kernel, "6.1.0-27-amd64");
  EXPECT_EQ(facts.memory_bytes, 1000 * 1024);
  EXPECT_EQ(facts.available_bytes, 600 * 1024);
  EXPECT_THAT(facts.load, Optional(1.25));
  EXPECT_THAT(facts.cpu_limit, Optional(1.5));
  EXPECT_THAT(facts.memory_limit, Optional(512000));
  EXPECT_EQ(facts.governor, "powersave");
}

TEST(MachineFacts, AMissingFileIsUnknown) {
  const MachineFacts facts = FactsFrom({{"proc/meminfo", "MemTotal: many kB\n"}});
  EXPECT_EQ(facts.processor + facts.kernel + facts.governor, "");
  EXPECT_EQ(facts.memory_bytes, 0);
  EXPECT_FALSE(facts.load || facts.cpu_limit || facts.memory_limit);
}

TEST(MachineFacts, ALimitAboveTheMemoryIsNone) {
  EXPECT_FALSE(FactsFrom({{"proc/meminfo", "MemTotal: 1000 kB\n"},
                          {"proc/self/cgroup", "4:memory:/box\n"},
                          {"sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n"}})
                   .memory_limit);
}

}  // namespace
}  // namespace attune
