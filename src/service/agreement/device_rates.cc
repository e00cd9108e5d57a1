#include "service/agreement/device_rates.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "device/codec.h"

namespace attune {
namespace {

// How many 8-bit integers a processor multiplies for one number of f32.
double IntegersForFloat(const Target& target) {
  constexpr double kTiles = 16, kDotProducts = 4, kPairs = 2;
  if (target.Has("amx_int8")) return kTiles;
  return target.Has("avx512_vnni") || target.Has("avx_vnni") ? kDotProducts : kPairs;
}

}  // namespace

// More than that, CheckPeaks() refuses.
Peaks HighestPeaks(const Target& target) {
  constexpr double kMostGhz = 8, kOperations = 2, kNarrow = 16, kGigabytes = 1e6;
  const double gflops = kMostGhz * kOperations * target.Lanes(sizeof(float)) * target.fma_per_cycle;
  return {.gflops_per_core = gflops,
          .bf16_gflops_per_core = kNarrow * gflops,
          .int8_gops_per_core = kNarrow * gflops,
          .l2_gb_per_s = kGigabytes,
          .l3_gb_per_s = kGigabytes,
          .memory_gb_per_s = kGigabytes,
          .l2_bytes = target.l2_bytes};
}

Peaks ExpectedPeaks(const Target& target) {
  constexpr double kOperations = 2, kNarrow = 2;
  const double gflops = target.clock_ghz * kOperations * target.Lanes(sizeof(float)) * target.fma_per_cycle;
  return {.gflops_per_core = gflops,
          .bf16_gflops_per_core = kNarrow * gflops,
          .int8_gops_per_core = IntegersForFloat(target) * gflops,
          .l2_gb_per_s = target.clock_ghz * target.l2_bytes_per_cycle,
          .l3_gb_per_s = target.clock_ghz * target.l3_bytes_per_cycle,
          .memory_gb_per_s = target.clock_ghz * target.dram_bytes_per_cycle,
          .l2_bytes = target.l2_bytes};
}

Peaks WithMargin(Peaks measured) {
  constexpr double kMargin = 1.2;
  for (double Peaks::* rate :
       {&Peaks::gflops_per_core, &Peaks::bf16_gflops_per_core, &Peaks::int8_gops_per_core,
        &Peaks::l2_gb_per_s, &Peaks::l3_gb_per_s, &Peaks::memory_gb_per_s})
    measured.*rate *= kMargin;
  return measured;
}

absl::StatusOr<DeviceOfKey> FindDeviceOfKey(const DeviceDirectory& devices, const std::string& tenant,
                                            const std::string& key) {
  DeviceOfKey device;
  for (const fleet_proto::Device& one : devices.DevicesFor(tenant, key)) {
    const auto info = DecodeDevice(one.info());
    if (!one.is_there() || !info.ok()) continue;
    if (device.count++ == 0) device.info = *info;
    device.is_one_kind = device.is_one_kind && info->fingerprint == device.info.fingerprint;
  }
  if (const absl::Status served = devices.CheckKey(key, tenant); !key.empty() && !served.ok())
    return Annotate(served, "/on");
  if (key.empty() || device.count == 0)
    return absl::NotFoundError(
        absl::StrCat("/on: no device has the key \"", key, "\", so that nothing can be promised"));
  return device;
}

}  // namespace attune
