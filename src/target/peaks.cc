#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "base/processors.h"
#include "base/threads.h"
#include "target/target.h"

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What a kernel's innermost loop does: a tile of a matrix product, rows × kColumns vectors of sums in
// registers, whose operands come from the first-level cache. Sums of operands that stay in registers are no
// measure, as no kernel reaches them everywhere (docs/decisions/peaks.md).
constexpr int kTerms = 64;    // of a sum, until they repeat
constexpr int kColumns = 2;   // vectors
constexpr int kRowsOf16 = 6;  // as many as 16 registers hold, with an operand of each kind
constexpr int kRowsOf32 = 12;
constexpr int kMaxVector = 64;  // bytes

// Kernels do not multiply ones and zeros either, and how much power an operation takes depends on its bits.
struct alignas(kMaxVector) Operands {
  float rows[kTerms][kRowsOf32];
  float columns[kTerms][kColumns][kMaxVector / sizeof(float)];

  Operands() {
    std::minstd_rand random;
    std::uniform_real_distribution<float> number(-1, 1);
    for (auto& term : rows) std::ranges::generate(term, [&] { return number(random); });
    for (auto& term : columns) {
      for (auto& vector : term) std::ranges::generate(vector, [&] { return number(random); });
    }
  }
};

__attribute__((target("avx512f"))) float FmaLoop512(const Operands& operands, int64_t terms) {
  __m512 sum[kRowsOf32][kColumns] = {};
  for (int64_t t = 0; t < terms; ++t) {
    const auto& rows = operands.rows[t % kTerms];
    const auto& columns = operands.columns[t % kTerms];
    const __m512 first = _mm512_load_ps(columns[0]), second = _mm512_load_ps(columns[1]);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRowsOf32; ++i) {
      const __m512 row = _mm512_set1_ps(rows[i]);
      sum[i][0] = _mm512_fmadd_ps(row, first, sum[i][0]);
      sum[i][1] = _mm512_fmadd_ps(row, second, sum[i][1]);
    }
  }
  __m512 total = _mm512_setzero_ps();
  for (const auto& row : sum) total = _mm512_add_ps(total, _mm512_add_ps(row[0], row[1]));
  return _mm512_reduce_add_ps(total);
}

__attribute__((target("avx2,fma"))) float FmaLoop256(const Operands& operands, int64_t terms) {
  __m256 sum[kRowsOf16][kColumns] = {};
  for (int64_t t = 0; t < terms; ++t) {
    const auto& rows = operands.rows[t % kTerms];
    const auto& columns = operands.columns[t % kTerms];
    const __m256 first = _mm256_load_ps(columns[0]), second = _mm256_load_ps(columns[1]);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRowsOf16; ++i) {
      const __m256 row = _mm256_broadcast_ss(&rows[i]);
      sum[i][0] = _mm256_fmadd_ps(row, first, sum[i][0]);
      sum[i][1] = _mm256_fmadd_ps(row, second, sum[i][1]);
    }
  }
  __m256 total = _mm256_setzero_ps();
  for (const auto& row : sum) total = _mm256_add_ps(total, _mm256_add_ps(row[0], row[1]));
  return _mm256_cvtss_f32(total);
}

// The bytes of the same operands, four terms at a time.
__attribute__((target("avx512f,avx512vnni"))) float DotLoop512(const Operands& operands, int64_t terms) {
  __m512i sum[kRowsOf32][kColumns] = {};
  for (int64_t t = 0; t < terms; ++t) {
    const auto& rows = operands.rows[t % kTerms];
    const auto& columns = operands.columns[t % kTerms];
    const __m512i first = _mm512_load_si512(columns[0]), second = _mm512_load_si512(columns[1]);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRowsOf32; ++i) {
      const __m512i row = _mm512_castps_si512(_mm512_set1_ps(rows[i]));
      sum[i][0] = _mm512_dpbusd_epi32(sum[i][0], row, first);
      sum[i][1] = _mm512_dpbusd_epi32(sum[i][1], row, second);
    }
  }
  __m512i total = _mm512_setzero_si512();
  for (const auto& row : sum) total = _mm512_add_epi32(total, _mm512_add_epi32(row[0], row[1]));
  return static_cast<float>(_mm512_reduce_add_epi32(total));
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

// What `rate` gives on the average of `threads` cores, or as many as the system has threads for, that all
// begin at the same time, when each has been given what it needs by `prepare`; the most of some runs.
template <typename Prepare, typename Rate>
double MostOnAll(int threads, int runs, Prepare prepare, Rate rate) {
  std::vector<double> rates(static_cast<size_t>(threads));
  double most = 0;
  std::atomic<size_t> next = 1;  // the caller is the first
  int running = threads;
  std::barrier together(threads);
  const auto work = [&](size_t index) {
    const auto prepared = prepare();
    for (int run = 0; run < runs; ++run) {
      together.arrive_and_wait();
      rates[index] = rate(prepared);
      together.arrive_and_wait();
      if (index == 0) most = std::max(most, std::reduce(rates.begin(), rates.end()) / running);
    }
  };
  ThreadGroup others;
  running = 1 + others.Start(threads - 1, [&] { work(next++); });
  for (int missing = running; missing < threads; ++missing) together.arrive_and_drop();
  work(0);
  others.Join();
  return most;
}

// Billions of operations a second and core, if `loop` does `operations` a term and sum.
template <typename F>
double MeasureGops(int threads, F loop, int rows, int operations) {
  constexpr int64_t kTermsARun = 800'000;
  constexpr int kRuns = 8;
  return MostOnAll(
      threads, kRuns, [] { return Operands(); },
      [&](const Operands& operands) {
        const Clock::time_point start = Clock::now();
        Keep(loop(operands, kTermsARun));
        return static_cast<double>(kTermsARun * rows * kColumns * operations) / SecondsSince(start) * 1e-9;
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
  // The last-level cache, and what lies beyond it, are shared: by these threads, and a large one by others
  // that nobody sees. Of 480 MiB, a virtual machine of two cores had some 60.
  constexpr int64_t kLeast = 1 << 15, kMostInL3 = int64_t{16} << 20;
  const int64_t in_l3 = std::max(2 * target->l2_bytes, std::min(target->l3_bytes / (8 * threads), kMostInL3));
  const int64_t in_memory =
      std::clamp<int64_t>(4 * target->l3_bytes, int64_t{64} << 20, int64_t{256} << 20) / threads;
  const int operations = 2 * target->vector_bits / 32;
  const double f32 = target->vector_bits == 512 ? MeasureGops(threads, FmaLoop512, kRowsOf32, operations)
                                                : MeasureGops(threads, FmaLoop256, kRowsOf16, operations);
  constexpr int kDot = 4;
  const bool has_dot = target->Has("avx512_vnni");
  return Peaks{
      .gflops_per_core = f32,
      .int8_gops_per_core = has_dot ? MeasureGops(threads, DotLoop512, kRowsOf32, kDot * operations) : f32,
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
