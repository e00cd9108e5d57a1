#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

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

// The most billions of operations a second that `loop`, of `operations` a round and chain, comes to.
template <typename F>
double MeasureGops(F loop, int operations) {
  constexpr int64_t kRounds = 400'000;
  double best = 0;
  for (int run = 0; run < 8; ++run) {
    const Clock::time_point start = Clock::now();
    Keep(loop(kRounds));
    best = std::max(best, static_cast<double>(kRounds) * kChains * operations / SecondsSince(start) * 1e-9);
  }
  return best;
}

// The bandwidth of what holds `bytes`, read again and again.
double MeasureRead(int64_t bytes) {
  constexpr int64_t kBytesARun = int64_t{64} << 20;
  const std::vector<int64_t> data(static_cast<size_t>(bytes / 8), 1);
  const int64_t rounds = std::max<int64_t>(kBytesARun / bytes, 1);
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    const Clock::time_point start = Clock::now();
    for (int64_t round = 0; round < rounds; ++round) Keep(ReadAll(data));
    best = std::max(best, static_cast<double>(rounds * bytes) / SecondsSince(start) * 1e-9);
  }
  return best;
}

Peaks Measure() {
  const absl::StatusOr<Target> target = HostTarget();
  if (!target.ok()) return Peaks{};
  const int64_t in_l3 = std::max(2 * target->l2_bytes, target->l3_bytes / 8);
  const int64_t in_memory = std::clamp<int64_t>(4 * target->l3_bytes, int64_t{64} << 20, int64_t{256} << 20);
  const int operations = 2 * target->vector_bits / 32;
  const double f32 = MeasureGops(target->vector_bits == 512 ? FmaLoop512 : FmaLoop256, operations);
  constexpr int kDot = 4;
  return Peaks{
      .gflops_per_core = f32,
      .int8_gops_per_core = target->Has("avx512_vnni") ? MeasureGops(DotLoop512, kDot * operations) : f32,
      .l2_gb_per_s = MeasureRead(std::max<int64_t>(target->l2_bytes / 2, 1 << 15)),
      .l3_gb_per_s = MeasureRead(std::max<int64_t>(in_l3, 1 << 15)),
      .memory_gb_per_s = MeasureRead(in_memory),
      .l2_bytes = target->l2_bytes};
}

}  // namespace

const Peaks& MeasurePeaks() {
  static const Peaks peaks = Measure();
  return peaks;
}

}  // namespace attune
