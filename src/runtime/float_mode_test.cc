// Tests that results do not depend on the caller's floating-point mode.
#include "runtime/float_mode.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <cmath>
#include <map>
#include <mutex>
#include <thread>
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

// Sets another mode in the calling thread, as a host might.
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

// The mode of each thread that took part in a launch.
struct Modes {
  std::mutex mutex;
  std::map<std::thread::id, uint32_t> modes;

  size_t Note() {
    const std::lock_guard<std::mutex> lock(mutex);
    modes[std::this_thread::get_id()] = Mode();
    return modes.size();
  }
};

// A kernel that waits until two threads run it.
int32_t NoteModes(void* const* buffers, int64_t*, void*, int32_t, int32_t) {
  while (static_cast<Modes*>(buffers[0])->Note() < 2) std::this_thread::yield();
  return 0;
}

TEST(FloatMode, OfTheWorkersIsIeeeWhoeverMadeThem) {
  constexpr int32_t kThreads = 4;
  constexpr uint64_t kStride = 128;
  for (const uint32_t mode : {kFlushing, kUpwards}) {
    const HostMode host(mode);
    std::shared_ptr<ThreadPool> pool;
    ASSERT_TRUE(ThreadPool::Get(kThreads, &pool).ok());
    const IeeeMode run;
    Modes noted;
    void* buffers[] = {&noted};
    const DeviceMemory scratch = CpuDevice().Allocate(kThreads * kStride);
    EXPECT_EQ(pool->Run({NoteModes, buffers, nullptr, scratch.get(), kStride, kThreads}), 0);
    EXPECT_GE(noted.modes.size(), 2u);
    for (const auto& [thread, of_thread] : noted.modes) EXPECT_EQ(of_thread, kDefault);
  }
}

// The sums of the sample, x[i, j] + j - i, for inputs whose sums differ between modes.
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
      const IeeeMode ieee;  // for the comparison
      EXPECT_EQ(sums, expected);
    }
  }
}

}  // namespace
}  // namespace attune
