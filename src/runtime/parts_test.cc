// The runtime's parts that the C interface does not show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/random.h"
#include "runtime/cpu_features.h"
#include "runtime/sha256.h"
#include "runtime/strided.h"
#include "runtime/thread_pool.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

TEST(RuntimeSha256Test, AgreesWithTheOtherImplementation) {
  Random random(1);
  for (size_t size : {0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 128, 1000}) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random.Next());
    EXPECT_EQ(RuntimeSha256Hex(std::as_bytes(std::span(text))), Sha256Hex(text)) << size;
  }
}

#if defined(__x86_64__)
TEST(CpuFeaturesTest, AgreeWithTheKernel) {
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
#endif

TEST(StridedTest, TellsWhatIsContiguous) {
  const int64_t bounds[] = {4, 3, 5};
  EXPECT_TRUE(IsContiguous(std::vector<int64_t>{2, 3, 5}, bounds));
  EXPECT_FALSE(IsContiguous(std::vector<int64_t>{2, 2, 5}, bounds));
  EXPECT_FALSE(IsContiguous(std::vector<int64_t>{4, 3, 4}, bounds));
  EXPECT_TRUE(IsContiguous(std::vector<int64_t>{1, 2, 5}, bounds));
  EXPECT_TRUE(IsContiguous(std::vector<int64_t>{1, 1, 4}, bounds));
  EXPECT_TRUE(IsContiguous(std::vector<int64_t>{4, 3, 0}, bounds));
  EXPECT_TRUE(IsContiguous({}, {}));
}

TEST(StridedTest, CopiesBetweenStrides) {
  const int64_t from_bounds[] = {3, 4, 2};
  const int64_t to_bounds[] = {2, 3, 5};
  const int64_t actual[] = {2, 3, 2};
  std::vector<int16_t> from(24);
  for (int i = 0; i < 24; ++i) from[i] = static_cast<int16_t>(i + 1);
  std::vector<int16_t> to(30, 0);
  CopyStrided(CpuDevice(), reinterpret_cast<std::byte*>(to.data()), to_bounds,
              reinterpret_cast<const std::byte*>(from.data()), from_bounds, actual, sizeof(int16_t));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 5; ++k) {
        EXPECT_EQ(to[(i * 3 + j) * 5 + k], k < 2 ? from[(i * 4 + j) * 2 + k] : 0);
      }
    }
  }
}

int32_t MarkPart(void* const* buffers, int64_t*, void* scratch, int32_t part, int32_t parts) {
  static_cast<int32_t*>(buffers[0])[part] += parts;
  *static_cast<int32_t*>(scratch) = part;  // a race, were scratch shared
  return part == 2 ? 42 : 0;
}

TEST(ThreadPoolTest, RunsEachPartOnceAndReportsAFailure) {
  std::shared_ptr<ThreadPool> pool;
  ASSERT_TRUE(ThreadPool::Get(5, &pool).ok());
  std::shared_ptr<ThreadPool> smaller;
  ASSERT_TRUE(ThreadPool::Get(2, &smaller).ok());
  EXPECT_EQ(pool, smaller);  // one a process
  const DeviceMemory scratch = CpuDevice().Allocate(5 * 128);
  for (const int32_t parts : {1, 2, 3, 5, 5, 2}) {
    int32_t marks[6] = {};
    void* buffers[] = {marks};
    const int32_t failure = pool->Run({MarkPart, buffers, nullptr, scratch.get(), 128, parts});
    EXPECT_EQ(failure, parts > 2 ? 42 : 0);
    for (int32_t part = 0; part < 6; ++part) EXPECT_EQ(marks[part], part < parts ? parts : 0);
  }
}

TEST(DeviceTest, MemoryIsAlignedAndZero) {
  for (const uint64_t bytes : {0, 1, 64, 1000, 5 << 20}) {
    const DeviceMemory memory = CpuDevice().Allocate(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % kTensorAlignment, 0u);
    for (uint64_t i = 0; i < bytes; i += 63) ASSERT_EQ(memory.get()[i], std::byte{0});
  }
  EXPECT_EQ(CpuDevice().Allocate(uint64_t{1} << 50), nullptr);
}

}  // namespace
}  // namespace attune
