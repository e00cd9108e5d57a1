#include "runtime/cpu_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "target/host_cpu_for_test.h"
#include "target/target.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

#if defined(__x86_64__)
TEST(CpuFeaturesTest, AgreeWithTheKernel) {
  ScopedHostCpu none(nullptr);
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  std::set<std::string> flags;
  while (flags.empty() && std::getline(cpuinfo, line)) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string flag; words >> flag;) flags.insert(flag);
  }
  if (flags.empty()) GTEST_SKIP() << "no /proc/cpuinfo";
  for (const char* feature : {"sse",         "sse2",         "ssse3",         "sse4_1",
                              "sse4_2",      "movbe",        "popcnt",        "fma",
                              "avx",         "f16c",         "abm",           "bmi1",
                              "bmi2",        "avx2",         "avx512f",       "avx512dq",
                              "avx512ifma",  "avx512cd",     "avx512bw",      "avx512vl",
                              "avx512vbmi",  "avx512_vbmi2", "gfni",          "vaes",
                              "vpclmulqdq",  "avx512_vnni",  "avx512_bitalg", "avx512_vpopcntdq",
                              "avx512_fp16", "avx_vnni",     "avx512_bf16",   "avx_ifma"}) {
    EXPECT_EQ(HostHasFeature(feature), flags.contains(feature)) << feature;
  }
}

TEST(CpuFeaturesTest, UnderstandsBothSpellings) {
  EXPECT_EQ(HostHasFeature("avx512bf16"), HostHasFeature("avx512_bf16"));
  EXPECT_EQ(HostHasFeature("sse4.2"), HostHasFeature("sse4_2"));
  EXPECT_TRUE(HostHasFeature("sse2"));
}

TEST(CpuFeaturesTest, UnknownOnesAreMissing) {
  const std::vector<std::string> features = {"sse2", "avx1024", ""};
  EXPECT_THAT(MissingFeatures(features), ElementsAre("avx1024", ""));
}

// What the environment names takes features away and adds none.
TEST(CpuFeaturesTest, TheEnvironmentTakesAway) {
  ScopedHostCpu none(nullptr);
  const std::vector<std::string> all = TargetByName("znver5")->required_features;
  const std::vector<std::string> lacking = MissingFeatures(all);
  for (const std::string& name : TargetNames()) {
    const Target target = *TargetByName(name);
    ScopedHostCpu chosen(name.c_str());
    for (const std::string& feature : all) {
      const bool lacks = std::find(lacking.begin(), lacking.end(), feature) != lacking.end();
      EXPECT_EQ(HostHasFeature(feature), target.Has(feature) && !lacks) << name << " " << feature;
    }
    EXPECT_TRUE(HostHasFeature("sse2"));
    EXPECT_FALSE(HostHasFeature("avx512_fp16"));  // of no level
  }
  ScopedHostCpu unknown("pentium");
  EXPECT_EQ(MissingFeatures(all), all);
}
#endif

}  // namespace
}  // namespace attune
