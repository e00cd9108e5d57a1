#include "runtime/cpu_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if defined(__x86_64__)
#include <immintrin.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <set>
#include <sstream>
#include <thread>

#include "device/host.h"
#include "device/host_cpu_for_test.h"
#include "device/tile_permission.h"
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
  for (const char* feature : {"amx_tile", "amx_int8", "amx_bf16"})
    EXPECT_EQ(HostHasFeature(feature), flags.contains(feature) && MayUseTiles()) << feature;
}

__attribute__((target("amx-tile"))) void UseATile() {
  alignas(64) std::array<uint8_t, 64> shapes = {1};  // the tile configuration
  shapes[16] = 64;                                   // tile 0: bytes per row, and the number of rows
  shapes[48] = 16;
  _tile_loadconfig(shapes.data());
  _tile_zero(0);
  _tile_release();
}

// Each query is the first one in its own process.
class TilePermissionTest : public ::testing::Test {
 protected:
  TilePermissionTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  ScopedHostCpu none_{nullptr};
};

// The permission holds for threads that exist at the query, for later ones and for child processes.
TEST_F(TilePermissionTest, AYesHoldsForThreadsAndChildren) {
  const auto use = [] {
    std::latch asked(1);
    bool may = false;
    std::thread early([&] {
      asked.wait();
      if (may) UseATile();
    });
    may = HostHasFeature("amx_tile");
    asked.count_down();
    early.join();
    if (!may) std::exit(0);
    std::thread(UseATile).join();
    const pid_t child = fork();
    if (child == 0) {
      UseATile();
      _exit(0);
    }
    int status = 0;
    std::exit(waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
  };
  EXPECT_EXIT(use(), ::testing::ExitedWithCode(0), "");
}

// A signal handler on that stack would write beyond its end.
TEST_F(TilePermissionTest, ASmallSignalStackMeansNo) {
  const auto ask = [] {
    static std::array<std::byte, 4096> small;
    stack_t stack = {};
    stack.ss_sp = small.data();
    stack.ss_size = small.size();
    if (sigaltstack(&stack, nullptr) != 0) std::exit(0);  // the system refuses such a small stack
    std::exit(HostHasFeature("amx_tile") ? 1 : 0);
  };
  EXPECT_EXIT(ask(), ::testing::ExitedWithCode(0), "");
}

// ATTUNE_HOST_CPU simulates another processor to find generated code that needs more than it has, so tiles
// must not be permitted.
TEST_F(TilePermissionTest, IsNotAskedForWhereTheEnvironmentTakesTilesAway) {
  const auto ask = [] {
    ScopedHostCpu chosen("x86-64-v3");
    if (HostHasFeature("amx_tile")) std::exit(1);
    HostTarget().status().IgnoreError();
    constexpr long kGetPermissions = 0x1022;  // ARCH_GET_XCOMP_PERM
    uint64_t permitted = 0;
    if (syscall(SYS_arch_prctl, kGetPermissions, &permitted) != 0) std::exit(0);  // an old kernel
    std::exit((permitted >> 18 & 1) == 0 ? 0 : 2);
  };
  EXPECT_EXIT(ask(), ::testing::ExitedWithCode(0), "");
}

TEST(CpuFeaturesTest, UnderstandsBothSpellings) {
  EXPECT_EQ(HostHasFeature("avx512bf16"), HostHasFeature("avx512_bf16"));
  EXPECT_EQ(HostHasFeature("sse4.2"), HostHasFeature("sse4_2"));
  EXPECT_EQ(HostHasFeature("avxvnni"), HostHasFeature("avx_vnni"));
  EXPECT_TRUE(HostHasFeature("sse2"));
}

TEST(CpuFeaturesTest, UnknownOnesAreMissing) {
  const std::vector<std::string> features = {"sse2", "avx1024", "", "_", "sse22"};
  EXPECT_THAT(MissingFeatures(features), ElementsAre("avx1024", "", "_", "sse22"));
}

// The processor that the environment names takes features away and adds none.
TEST(CpuFeaturesTest, TheEnvironmentTakesAway) {
  ScopedHostCpu none(nullptr);
  const std::vector<std::string> all = TargetByName("graniterapids")->required_features;
  const std::vector<std::string> lacking = MissingFeatures(all);
  for (const std::string& name : TargetNames()) {
    const Target target = *TargetByName(name);
    ScopedHostCpu chosen(name.c_str());
    for (const std::string& feature : all) {
      const bool lacks = std::find(lacking.begin(), lacking.end(), feature) != lacking.end();
      EXPECT_EQ(HostHasFeature(feature), target.Has(feature) && !lacks) << name << " " << feature;
    }
    EXPECT_TRUE(HostHasFeature("sse2"));
    EXPECT_FALSE(HostHasFeature("avx512_fp16"));  // not in any level
  }
  ScopedHostCpu unknown("pentium");
  EXPECT_EQ(MissingFeatures(all), all);
}
#endif

}  // namespace
}  // namespace attune
