#include <immintrin.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "base/processors.h"
#include "target/target.h"

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Twelve chains hide the latency of four cycles on two pipes and fit in 16 registers with the factors. The
// compiler must not know what they begin with: a chain that begins with what its steps do not change (1 =
// 0.999 * 1 + 0.001) would not be computed at all, and the others would look faster than the processor can
// be.
constexpr int kChains = 12;

__attribute__((target("avx512f"))) float FmaLoop512(int64_t rounds) {
  __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f), sum[kChains];
  for (int i = 0; i < kChains; ++i) {
    sum[i] = _mm512_set1_ps(static_cast<float>(i));
    asm volatile("" : "+v"(sum[i]));
  }
  for (int64_t r = 0; r < rounds; ++r) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kChains; ++i) sum[i] = _mm512_fmadd_ps(sum[i], x, y);
  }
  for (int i = 1; i < kChains; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_cvtss_f32(sum[0]);
}

__attribute__((target("avx2,fma"))) float FmaLoop256(int64_t rounds) {
  __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f), sum[kChains];
  for (int i = 0; i < kChains; ++i) {
    sum[i] = _mm256_set1_ps(static_cast<float>(i));
    asm volatile("" : "+v"(sum[i]));
  }
  for (int64_t r = 0; r < rounds; ++r) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kChains; ++i) sum[i] = _mm256_fmadd_ps(sum[i], x, y);
  }
  for (int i = 1; i < kChains; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}

__attribute__((target("avx512f,avx512vnni"))) int DotLoop512(int64_t rounds) {
  __m512i x = _mm512_set1_epi8(1), y = _mm512_set1_epi8(-1), sum[kChains];
  for (int i = 0; i < kChains; ++i) {
    sum[i] = _mm512_set1_epi32(i);
    asm volatile("" : "+v"(sum[i]));
  }
  asm volatile("" : "+v"(x), "+v"(y));
  for (int64_t r = 0; r < rounds; ++r) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kChains; ++i) sum[i] = _mm512_dpbusd_epi32(sum[i], x, y);
  }
  for (int i = 1; i < kChains; ++i) sum[0] = _mm512_add_epi32(sum[0], sum[i]);
  return _mm512_cvtsi512_si32(sum[0]);
}

__attribute__((target("avx2"))) int64_t ReadAll(const std::vector<int64_t>& data) {
  __m256i sum[4] = {};
  const __m256i* p = reinterpret_cast<const __m256i*>(data.data());
  for (size_t i = 0; i + 16 <= data.size(); i += 16, p += 4) {
    for (int j = 0; j < 4; ++j) sum[j] = _mm256_add_epi64(sum[j], _mm256_loadu_si256(p + j));
  }
  const __m256i total = _mm256_add_epi64(_mm256_add_epi64(sum[0], sum[1]), _mm256_add_epi64(sum[2], sum[3]));
  int64_t lanes[4];
  std::memcpy(lanes, &total, sizeof(lanes));
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

// Keeps the compiler from dropping a computation whose result nobody reads.
template <typename T>
void Keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// What `rate` gives on the average of `threads` cores that all begin at the same time, when each has been
// given what it needs by `prepare`; the most of some runs.
template <typename Prepare, typename Rate>
double MostOnAll(int threads, int runs, Prepare prepare, Rate rate) {
  std::vector<double> rates(static_cast<size_t>(threads));
  double most = 0;
  std::barrier together(threads);
  const auto work = [&](size_t index) {
    const auto prepared = prepare();
    for (int run = 0; run < runs; ++run) {
      together.arrive_and_wait();
      rates[index] = rate(prepared);
      together.arrive_and_wait();
      if (index == 0) most = std::max(most, std::reduce(rates.begin(), rates.end()) / threads);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, static_cast<size_t>(i));
  work(0);
  for (std::thread& other : others) other.join();
  return most;
}

// Billions of operations a second and core, if `loop` does `operations` a round and chain.
template <typename F>
double MeasureGops(int threads, F loop, int operations) {
  constexpr int64_t kRounds = 1'600'000;
  constexpr int kRuns = 8;
  return MostOnAll(
      threads, kRuns, [] { return 0; },
      [&](int) {
        const Clock::time_point start = Clock::now();
        Keep(loop(kRounds));
        return static_cast<double>(kRounds) * kChains * operations / SecondsSince(start) * 1e-9;
      });
}

// The bandwidth of what holds `bytes` for each core, read again and again.
double MeasureRead(int threads, int64_t bytes) {
  constexpr int64_t kBytesARun = int64_t{64} << 20;
  constexpr int kRuns = 3;
  const int64_t rounds = std::max<int64_t>(kBytesARun / bytes, 1);
  return MostOnAll(
      threads, kRuns, [&] { return std::vector<int64_t>(static_cast<size_t>(bytes / 8), 1); },
      [&](const std::vector<int64_t>& data) {
        const Clock::time_point start = Clock::now();
        for (int64_t round = 0; round < rounds; ++round) Keep(ReadAll(data));
        return static_cast<double>(rounds * bytes) / SecondsSince(start) * 1e-9;
      });
}

Peaks Measure(int threads) {
  const absl::StatusOr<Target> target = HostTarget();
  if (!target.ok()) return Peaks{};
  // The last-level cache, and what lies beyond it, are shared.
  constexpr int64_t kLeast = 1 << 15;
  const int64_t in_l3 = std::max(2 * target->l2_bytes, target->l3_bytes / (8 * threads));
  const int64_t in_memory =
      std::clamp<int64_t>(4 * target->l3_bytes, int64_t{64} << 20, int64_t{256} << 20) / threads;
  const int operations = 2 * target->vector_bits / 32;
  const double f32 = MeasureGops(threads, target->vector_bits == 512 ? FmaLoop512 : FmaLoop256, operations);
  constexpr int kDot = 4;
  const bool has_dot = target->Has("avx512_vnni");
  return Peaks{.gflops_per_core = f32,
               .int8_gops_per_core = has_dot ? MeasureGops(threads, DotLoop512, kDot * operations) : f32,
               .l2_gb_per_s = MeasureRead(threads, std::max(target->l2_bytes / 2, kLeast)),
               .l3_gb_per_s = MeasureRead(threads, std::max(in_l3, kLeast)),
               .memory_gb_per_s = MeasureRead(threads, std::max(in_memory, kLeast)),
               .l2_bytes = target->l2_bytes};
}

}  // namespace

const Peaks& MeasurePeaks(int threads) {
  static std::mutex mutex;
  static std::map<int, Peaks> known;
  const int busy = std::clamp(threads, 1, Processors());
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [found, is_new] = known.try_emplace(busy);
  if (is_new) found->second = Measure(busy);
  return found->second;
}

}  // namespace attune
