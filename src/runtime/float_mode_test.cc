// Results do not depend on the mode of floating point that the caller has.
#include "runtime/float_mode.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <atomic>
#include <vector>

#include "artifact/testing/sample_artifact.h"
#include "attune/attune.h"
#include "runtime/thread_pool.h"

namespace attune {
namespace {

using namespace attune::testing;  // NOLINT: the sample's kernels and tensors

constexpr uint32_t kDefault = 0x1F80, kFlags = 0x3F;
constexpr uint32_t kFlushing = kDefault | _MM_FLUSH_ZERO_ON | 0x40 /* denormal operands are 0 */;
constexpr uint32_t kUpwards = kDefault | _MM_ROUND_UP;
constexpr uint32_t kTrapping = kDefault & ~uint32_t{_MM_MASK_INVALID};

// The calling thread in another mode, as its host may have set.
class HostMode {
 public:
  explicit HostMode(uint32_t mode) : before_(_mm_getcsr()) { _mm_setcsr(mode); }
  ~HostMode() { _mm_setcsr(before_); }

 private:
  uint32_t before_;
};

uint32_t Mode() { return _mm_getcsr() & ~kFlags; }

TEST(FloatMode, IsIeeeWhileItLivesAndThenTheCallers) {
  for (const uint32_t mode : {kDefault, kFlushing, kUpwards, kTrapping}) {
    const HostMode host(mode);
    {
      const IeeeMode ieee;
      EXPECT_EQ(Mode(), kDefault);
    }
    EXPECT_EQ(Mode(), mode);
  }
}

TEST(FloatMode, OfTheWorkersIsIeeeWhoeverMadeThem) {
  constexpr int32_t kThreads = 4;
  const auto note_modes = [](void* const* buffers, int64_t*, void*, int32_t, int32_t) -> int32_t {
    auto& modes = *static_cast<std::vector<std::atomic<uint32_t>>*>(buffers[0]);
    static std::atomic<size_t> threads = 0;
    static thread_local const size_t self = threads++;
    modes[self % modes.size()] = Mode();
    return 0;
  };
  for (const uint32_t mode : {kFlushing, kUpwards}) {
    const HostMode host(mode);
    std::shared_ptr<ThreadPool> pool;
    ASSERT_TRUE(ThreadPool::Get(kThreads, &pool).ok());
    const IeeeMode run;
    std::vector<std::atomic<uint32_t>> modes(64);
    void* buffers[] = {&modes};
    const DeviceMemory scratch = CpuDevice().Allocate(kThreads * 128);
    for (int i = 0; i < 200; ++i)
      EXPECT_EQ(pool->Run({note_modes, buffers, nullptr, scratch.get(), 128, kThreads}), 0);
    for (const uint32_t noted : modes) EXPECT_TRUE(noted == 0 || noted == kDefault) << std::hex << noted;
  }
}

// The sums of the sample, x[i, j] + j - i, of numbers that tell modes apart.
std::vector<float> Sums(size_t threads) {
  const std::string file = MakeSampleArtifact().Write();
  attune_model* model = nullptr;
  attune_session* session = nullptr;
  EXPECT_EQ(attune_load_memory(file.data(), file.size(), nullptr, &model, nullptr), ATTUNE_OK);
  EXPECT_EQ(attune_session_create(model, threads, &session, nullptr), ATTUNE_OK);
  auto* x = static_cast<float*>(attune_session_input(session, 0));
  for (int i = 0; i < kRows * kColumns; ++i) x[i] = i % 3 == 0 ? 1e-40f : i % 3 == 1 ? 1e-9f : -HUGE_VALF;
  EXPECT_EQ(attune_session_run(session, nullptr), ATTUNE_OK);
  attune_output output{};
  EXPECT_EQ(attune_session_output(session, 0, &output, nullptr), ATTUNE_OK);
  const auto* sums = static_cast<const float*>(output.data);
  std::vector<float> result(sums, sums + kRows * kColumns);
  attune_session_free(session);
  attune_model_free(model);
  return result;
}

TEST(FloatMode, OfTheCallerChangesNoResult) {
  const std::vector<float> expected = Sums(1);
  EXPECT_EQ(expected[0], 1e-40f);
  EXPECT_EQ(expected[4], 4);
  for (const uint32_t mode : {kFlushing, kUpwards, kTrapping}) {
    for (const size_t threads : {1, 3}) {
      const HostMode host(mode);
      const std::vector<float> sums = Sums(threads);
      EXPECT_EQ(Mode(), mode);
      const IeeeMode ieee;  // in which to compare
      EXPECT_EQ(sums, expected);
    }
  }
}

}  // namespace
}  // namespace attune
