#include "device/peaks.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "base/processors.h"
#include "base/threads.h"
#include "device/host.h"
#include "target/products.h"
#include "target/target.h"
#include "target/tile_configuration.h"

namespace attune {
namespace {

using SteadyClock = std::chrono::steady_clock;

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// The innermost loop of a kernel: a tile of a matrix product, rows × kColumns vectors of sums in registers,
// with operands from L1. A loop whose operands stay in registers would be no measure, since no kernel
// reaches its rate everywhere (docs/decisions/peaks.md).
constexpr int kTerms = 64;    // of a sum, until the operands repeat
constexpr int kColumns = 2;   // vectors
constexpr int kRowsOf16 = 6;  // as many as fit in 16 registers, with one operand of each kind
constexpr int kRowsOf32 = 12;
constexpr int kMaxVector = 64;  // bytes

// Random operands, as in real kernels, since the power that an operation takes depends on its bits: f32
// numbers, pairs of bf16, or the bytes of these.
struct alignas(kMaxVector) Operands {
  float rows[kTerms][kRowsOf32];
  float columns[kTerms][kColumns][kMaxVector / sizeof(float)];
};

class RandomNumbers {
 public:
  float Float() { return number_(random_); }
  float PairOfBF16() {
    const auto high = std::bit_cast<uint32_t>(Float()), low = std::bit_cast<uint32_t>(Float());
    return std::bit_cast<float>((high & 0xFFFF0000) | low >> 16);
  }

 private:
  std::minstd_rand random_;
  std::uniform_real_distribution<float> number_{-1, 1};
};

template <typename T>
T MakeOperands(float (RandomNumbers::*next)()) {
  RandomNumbers random;
  T operands;
  const std::span<float> all(reinterpret_cast<float*>(&operands), sizeof(operands) / sizeof(float));
  std::ranges::generate(all, [&] { return (random.*next)(); });
  return operands;
}

template <int kLanes>
using FloatVector = float __attribute__((ext_vector_type(kLanes)));

// The loop in f32; sets `total` to the sum of all sums. It is inlined, and so has the instructions of the
// function that calls it.
template <int kRows, typename Vector>
[[clang::always_inline]] void FmaLoop(const Operands& operands, int64_t terms, Vector& total) {
  Vector sum[kRows][kColumns] = {};
  for (int64_t t = 0; t < terms; ++t) {
    const auto& rows = operands.rows[t % kTerms];
    const auto& columns = operands.columns[t % kTerms];
    const auto first = *reinterpret_cast<const Vector*>(columns[0]);
    const auto second = *reinterpret_cast<const Vector*>(columns[1]);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) {
      const Vector row = rows[i];
      sum[i][0] = __builtin_elementwise_fma(row, first, sum[i][0]);
      sum[i][1] = __builtin_elementwise_fma(row, second, sum[i][1]);
    }
  }
  total = 0;
  for (const auto& row : sum) total += row[0] + row[1];
}

__attribute__((target("avx512f"))) float FmaLoop512(const Operands& operands, int64_t terms) {
  FloatVector<16> total;
  FmaLoop<kRowsOf32>(operands, terms, total);
  return _mm512_reduce_add_ps(total);
}
__attribute__((target("avx2,fma"))) float FmaLoop256(const Operands& operands, int64_t terms) {
  FloatVector<8> total;
  FmaLoop<kRowsOf16>(operands, terms, total);
  return total[0];
}

// Multiplies the bytes of the same operands, four terms at a time.
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

__attribute__((target("avx2"))) float Total256(const __m256i (&sum)[kRowsOf16][kColumns]) {
  __m256i total = _mm256_setzero_si256();
  for (const auto& row : sum) total = _mm256_add_epi32(total, _mm256_add_epi32(row[0], row[1]));
  return static_cast<float>(_mm256_extract_epi32(total, 0));
}

// The same in vectors of 256 bits; and PairLoop256 for pairs of 16 bits, two terms at a time.
__attribute__((target("avx2,avxvnni"))) float DotLoop256(const Operands& operands, int64_t terms) {
  __m256i sum[kRowsOf16][kColumns] = {};
  for (int64_t t = 0; t < terms; ++t) {
    const auto& rows = operands.rows[t % kTerms];
    const auto* column = reinterpret_cast<const __m256i*>(operands.columns[t % kTerms]);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRowsOf16; ++i) {
      const __m256i row = _mm256_castps_si256(_mm256_set1_ps(rows[i]));
      sum[i][0] = _mm256_dpbusd_avx_epi32(sum[i][0], row, column[0]);
      sum[i][1] = _mm256_dpbusd_avx_epi32(sum[i][1], row, column[1]);
    }
  }
  return Total256(sum);
}
__attribute__((target("avx2"))) float PairLoop256(const Operands& operands, int64_t terms) {
  __m256i sum[kRowsOf16][kColumns] = {};
  for (int64_t t = 0; t < terms; ++t) {
    const auto& rows = operands.rows[t % kTerms];
    const auto* column = reinterpret_cast<const __m256i*>(operands.columns[t % kTerms]);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRowsOf16; ++i) {
      const __m256i row = _mm256_castps_si256(_mm256_set1_ps(rows[i]));
      for (int j = 0; j < kColumns; ++j) {
        sum[i][j] = _mm256_add_epi32(sum[i][j], _mm256_madd_epi16(row, column[j]));
        __asm__("" : "+x"(sum[i][j]));  // keeps the compiler from merging the additions
      }
    }
  }
  return Total256(sum);
}

// Multiplies the same operands as pairs of bf16, two terms at a time.
__attribute__((target("avx512f,avx512bf16"))) float DotLoopBF16(const Operands& operands, int64_t terms) {
  __m512 sum[kRowsOf32][kColumns] = {};
  for (int64_t t = 0; t < terms; ++t) {
    const auto& rows = operands.rows[t % kTerms];
    const auto& columns = operands.columns[t % kTerms];
    const auto first = reinterpret_cast<__m512bh>(_mm512_load_ps(columns[0]));
    const auto second = reinterpret_cast<__m512bh>(_mm512_load_ps(columns[1]));
#pragma clang loop unroll(full)
    for (int i = 0; i < kRowsOf32; ++i) {
      const auto row = reinterpret_cast<__m512bh>(_mm512_set1_ps(rows[i]));
      sum[i][0] = _mm512_dpbf16_ps(sum[i][0], row, first);
      sum[i][1] = _mm512_dpbf16_ps(sum[i][1], row, second);
    }
  }
  __m512 total = _mm512_setzero_ps();
  for (const auto& row : sum) total = _mm512_add_ps(total, _mm512_add_ps(row[0], row[1]));
  return _mm512_reduce_add_ps(total);
}

// Tiles as AMX loads them; 16 KiB.
constexpr int kTileSteps = 4;  // until the operands repeat
struct alignas(kMaxVector) TileOperands {
  using Tile = float[kTileRows][kTileColumns];
  Tile left[kTileSteps][2], right[kTileSteps][2];
};
constexpr int kTileRowBytes = sizeof(float) * kTileColumns;

// Computes 2 × 2 tiles of sums, from 8-bit integers or from bf16: each loaded tile is used in two of the
// four operations.
template <bool kIntegers>
__attribute__((target("amx-tile,amx-int8,amx-bf16"))) float TileLoop(const TileOperands& operands,
                                                                     int64_t steps) {
  TileConfiguration shapes;
  std::fill_n(shapes.row_bytes, kTileRegisters, uint16_t{kTileRowBytes});
  std::fill_n(shapes.rows, kTileRegisters, uint8_t{kTileRows});
  _tile_loadconfig(&shapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t step = 0; step < steps; ++step) {
    const auto& left = operands.left[step % kTileSteps];
    const auto& right = operands.right[step % kTileSteps];
    _tile_loadd(4, left[0], kTileRowBytes);
    _tile_loadd(6, right[0], kTileRowBytes);
    _tile_loadd(7, right[1], kTileRowBytes);
    _tile_loadd(5, left[1], kTileRowBytes);
    if constexpr (kIntegers) {
      _tile_dpbusd(0, 4, 6);
      _tile_dpbusd(1, 4, 7);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(3, 5, 7);
    } else {
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  alignas(kMaxVector) TileOperands::Tile sums;
  _tile_stored(0, sums, kTileRowBytes);
  _tile_release();  // otherwise each thread switch saves the tiles
  return sums[0][0];
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

// Keeps the compiler from dropping a computation whose result is not read.
template <typename T>
void Keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// The mean of `rate` over `threads` cores, or over as many as the system has threads for. `prepare` makes
// the data of each thread, then all begin at the same time; the result is the best of `runs` runs.
template <typename Prepare, typename Rate>
double MostOnAll(int threads, int runs, Prepare prepare, Rate rate) {
  std::vector<double> rates(static_cast<size_t>(threads));
  double most = 0;
  std::atomic<size_t> next = 1;  // the caller has index 0
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

// Billions of operations per second and core; `loop` does `operations` per step.
template <typename Operands>
double MeasureGops(int threads, float (*loop)(const Operands&, int64_t), float (RandomNumbers::*next)(),
                   int64_t steps, int64_t operations) {
  constexpr int kRuns = 8;
  return MostOnAll(
      threads, kRuns, [&] { return MakeOperands<Operands>(next); },
      [&](const Operands& operands) {
        const SteadyClock::time_point start = SteadyClock::now();
        Keep(loop(operands, steps));
        return static_cast<double>(steps * operations) / SecondsSince(start) * 1e-9;
      });
}

struct ProductPeaks {
  double f32, bf16, int8;  // as in Peaks
};

ProductPeaks MeasureProducts(int threads, const Target& target) {
  constexpr int64_t kVectorTerms = 800'000, kTileTerms = 100'000;
  const auto vectors = [&](auto* loop, auto next, int64_t rows, int64_t terms) {
    return MeasureGops(threads, loop, next, kVectorTerms, 2 * rows * kColumns * target.Lanes(4) * terms);
  };
  const auto tiles = [&](auto* loop, auto next, int64_t terms) {
    constexpr int64_t kProducts = 4, kSums = kTileRows * kTileColumns;
    return MeasureGops(threads, loop, next, kTileTerms, 2 * kProducts * kSums * kTileColumns * terms);
  };
  const auto float_next = &RandomNumbers::Float, pair_next = &RandomNumbers::PairOfBF16;
  ProductPeaks peaks;
  peaks.f32 = target.vector_bits == 512 ? vectors(FmaLoop512, float_next, kRowsOf32, 1)
                                        : vectors(FmaLoop256, float_next, kRowsOf16, 1);
  // A Sapphire Rapids starts one vdpbf16ps every second cycle, but two f32 FMAs in each cycle: there, it is
  // faster to widen the numbers first and multiply them as f32.
  peaks.bf16 = peaks.int8 = peaks.f32;
  if (target.Has("amx_bf16")) {
    peaks.bf16 = tiles(TileLoop<false>, pair_next, 2);
  } else if (target.Has("avx512_bf16")) {
    peaks.bf16 = std::max(peaks.f32, vectors(DotLoopBF16, pair_next, kRowsOf32, 2));
  }
  if (target.Has("amx_int8")) {
    peaks.int8 = tiles(TileLoop<true>, float_next, 4);
  } else if (target.Has("avx512_vnni")) {
    peaks.int8 = vectors(DotLoop512, float_next, kRowsOf32, 4);
  } else if (target.vector_bits == 256) {
    const double own = target.Has("avx_vnni") ? vectors(DotLoop256, float_next, kRowsOf16, 4)
                                              : vectors(PairLoop256, float_next, kRowsOf16, 2);
    peaks.int8 = std::max(peaks.f32, own);
  }
  return peaks;
}

// The read bandwidth of the memory level that holds `bytes` per core, measured by reading them repeatedly.
double MeasureRead(int threads, int64_t bytes) {
  constexpr int64_t kBytesARun = int64_t{64} << 20;
  constexpr int kRuns = 3;
  const int64_t rounds = std::max<int64_t>(kBytesARun / bytes, 1);
  return MostOnAll(
      threads, kRuns, [&] { return std::vector<int64_t>(static_cast<size_t>(bytes / 8), 1); },
      [&](const std::vector<int64_t>& data) {
        const SteadyClock::time_point start = SteadyClock::now();
        for (int64_t round = 0; round < rounds; ++round) Keep(ReadAll(data));
        return static_cast<double>(rounds * bytes) / SecondsSince(start) * 1e-9;
      });
}

Peaks Measure(int threads) {
  const absl::StatusOr<Target> target = HostTarget();
  if (!target.ok()) return Peaks{};
  // The last-level cache and the memory are shared: by these threads, and a large cache also by other
  // programs that we cannot see. A virtual machine of two cores could use some 60 MiB of 480.
  constexpr int64_t kLeast = 1 << 15, kMostInL3 = int64_t{16} << 20;
  const int64_t in_l3 = std::max(2 * target->l2_bytes, std::min(target->l3_bytes / (8 * threads), kMostInL3));
  const int64_t in_memory =
      std::clamp<int64_t>(4 * target->l3_bytes, int64_t{64} << 20, int64_t{256} << 20) / threads;
  const ProductPeaks products = MeasureProducts(threads, *target);
  return Peaks{.gflops_per_core = products.f32,
               .bf16_gflops_per_core = products.bf16,
               .int8_gops_per_core = products.int8,
               .l2_gb_per_s = MeasureRead(threads, std::max(target->l2_bytes / 2, kLeast)),
               .l3_gb_per_s = MeasureRead(threads, std::max(in_l3, kLeast)),
               .memory_gb_per_s = MeasureRead(threads, std::max(in_memory, kLeast)),
               .l2_bytes = target->l2_bytes};
}

}  // namespace

Peaks BestPeaks(const Peaks& peaks, int threads) {
  Peaks best = Measure(std::clamp(threads, 1, Processors()));
  for (double Peaks::* rate :
       {&Peaks::gflops_per_core, &Peaks::bf16_gflops_per_core, &Peaks::int8_gops_per_core,
        &Peaks::l2_gb_per_s, &Peaks::l3_gb_per_s, &Peaks::memory_gb_per_s})
    best.*rate = std::max(best.*rate, peaks.*rate);
  return best;
}

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
