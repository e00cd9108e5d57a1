#include "device/roofline.h"

#include <algorithm>
#include <array>

#include "device/peaks.h"

namespace attune {
namespace {

constexpr double kGiga = 1e9;

double Peaks::* RateOf(Multiplicand multiplicand) {
  return multiplicand == Multiplicand::kInt8   ? &Peaks::int8_gops_per_core
         : multiplicand == Multiplicand::kBF16 ? &Peaks::bf16_gflops_per_core
                                               : &Peaks::gflops_per_core;
}

// The bytes that a level of the memory delivers at least, since the caches before it are too small.
struct Delivery {
  Bound level;
  double Peaks::* rate;
  double bytes;
};
std::array<Delivery, 3> DeliveriesOf(const Work& work, const CacheSizes& caches, int threads) {
  const double bytes = std::max(work.bytes_read, work.bytes_written), calls = std::max(work.calls, 1.0);
  const auto beyond = [&](double kept) { return std::max(0.0, bytes - calls * kept); };
  const double l1 = threads * caches.l1, l2 = l1 + threads * caches.l2, l3 = l2 + caches.l3;
  return {{{Bound::kL2, &Peaks::l2_gb_per_s, beyond(l1)},
           {Bound::kL3, &Peaks::l3_gb_per_s, beyond(l2)},
           {Bound::kMemory, &Peaks::memory_gb_per_s, beyond(l3)}}};
}

}  // namespace

std::string_view Name(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kL2:
      return "L2";
    case Bound::kL3:
      return "L3";
    case Bound::kMemory:
      return "memory";
  }
  return "";
}

double PeakOf(const Work& work, const Peaks& peaks, int threads) {
  return peaks.*RateOf(work.multiplicand) * kGiga * threads;
}

Roofline RooflineOf(const Work& work, double seconds, const Peaks& peaks, int threads) {
  const auto seconds_at = [&](double gb_per_s) { return work.bytes() / (gb_per_s * kGiga * threads); };
  const double compute_seconds = work.flops / PeakOf(work, peaks, threads);
  Bound source = Bound::kMemory;
  double read_seconds = seconds_at(peaks.memory_gb_per_s);
  if (read_seconds > seconds) {
    const bool fits =
        work.bytes() / std::max(work.calls, 1.0) <= static_cast<double>(peaks.l2_bytes * threads);
    source = fits ? Bound::kL2 : Bound::kL3;
    read_seconds = seconds_at(fits ? peaks.l2_gb_per_s : peaks.l3_gb_per_s);
  }
  return {read_seconds > compute_seconds ? source : Bound::kCompute, std::max(compute_seconds, read_seconds)};
}

CacheSizes CachesOf(const Target& target) {
  return {static_cast<double>(target.l1_bytes), static_cast<double>(target.l2_bytes),
          static_cast<double>(target.l3_bytes)};
}

Roofline BoundOf(const Work& work, const Peaks& peaks, const CacheSizes& caches, int threads) {
  Roofline bound = {Bound::kCompute, work.flops > 0 ? work.flops / PeakOf(work, peaks, threads) : 0};
  for (const Delivery& delivery : DeliveriesOf(work, caches, threads)) {
    if (delivery.bytes <= 0) continue;
    const double seconds = delivery.bytes / (peaks.*delivery.rate * kGiga * threads);
    if (seconds > bound.seconds) bound = {delivery.level, seconds};
  }
  return bound;
}

Peaks AttainedPeaks(Peaks peaks, const Work& work, double seconds, const CacheSizes& caches, int threads) {
  const auto attain = [&](double Peaks::* rate, double amount) {
    peaks.*rate = std::max(peaks.*rate, amount / (seconds * kGiga * threads));
  };
  attain(RateOf(work.multiplicand), work.flops);
  for (const Delivery& delivery : DeliveriesOf(work, caches, threads)) attain(delivery.rate, delivery.bytes);
  return peaks;
}

}  // namespace attune
