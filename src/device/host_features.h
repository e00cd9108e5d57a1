// Which instructions this processor has and the system lets a program use. The header has no dependencies,
// so that the runtime, which has none either, and the compiler use the same table.
#ifndef ATTUNE_DEVICE_HOST_FEATURES_H_
#define ATTUNE_DEVICE_HOST_FEATURES_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "device/tile_permission.h"
#include "target/features.h"

namespace attune {
namespace internal {

// Linux ('_'), LLVM ('-', '.') and others use different separators in feature names.
constexpr bool IsSameFeature(std::string_view a, std::string_view b) {
  const auto skip = [](std::string_view& name) {
    name.remove_prefix(std::min(name.find_first_not_of("_-."), name.size()));
  };
  for (skip(a), skip(b); !a.empty() && !b.empty(); skip(a), skip(b)) {
    if (a.front() != b.front()) return false;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() && b.empty();
}

#if defined(__x86_64__)
enum Register { kEax, kEbx, kEcx, kEdx };

// Bits of XCR0: the registers that the system saves (Intel SDM volume 1, section 13.3).
inline constexpr uint64_t kNoState = 0;
inline constexpr uint64_t kAvxState = 0x6;      // XMM, YMM
inline constexpr uint64_t kAvx512State = 0xE6;  // and opmasks, upper halves, ZMM16-31

// The cpuid bit that reports a feature (Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E).
struct Feature {
  std::string_view name;
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  int bit;
  uint64_t state;
};

inline constexpr Feature kFeatures[] = {
    {"sse", 1, 0, kEdx, 25, kNoState},
    {"sse2", 1, 0, kEdx, 26, kNoState},
    {"sse3", 1, 0, kEcx, 0, kNoState},
    {"ssse3", 1, 0, kEcx, 9, kNoState},
    {"sse4_1", 1, 0, kEcx, 19, kNoState},
    {"sse4_2", 1, 0, kEcx, 20, kNoState},
    {"movbe", 1, 0, kEcx, 22, kNoState},
    {"popcnt", 1, 0, kEcx, 23, kNoState},
    {"fma", 1, 0, kEcx, 12, kAvxState},
    {"avx", 1, 0, kEcx, 28, kAvxState},
    {"f16c", 1, 0, kEcx, 29, kAvxState},
    {"abm", 0x80000001, 0, kEcx, 5, kNoState},
    {"lzcnt", 0x80000001, 0, kEcx, 5, kNoState},
    {"bmi", 7, 0, kEbx, 3, kNoState},
    {"bmi1", 7, 0, kEbx, 3, kNoState},
    {"bmi2", 7, 0, kEbx, 8, kNoState},
    {"avx2", 7, 0, kEbx, 5, kAvxState},
    {"avx512f", 7, 0, kEbx, 16, kAvx512State},
    {"avx512dq", 7, 0, kEbx, 17, kAvx512State},
    {"avx512ifma", 7, 0, kEbx, 21, kAvx512State},
    {"avx512cd", 7, 0, kEbx, 28, kAvx512State},
    {"avx512bw", 7, 0, kEbx, 30, kAvx512State},
    {"avx512vl", 7, 0, kEbx, 31, kAvx512State},
    {"avx512vbmi", 7, 0, kEcx, 1, kAvx512State},
    {"avx512_vbmi2", 7, 0, kEcx, 6, kAvx512State},
    {"gfni", 7, 0, kEcx, 8, kNoState},
    {"vaes", 7, 0, kEcx, 9, kAvxState},
    {"vpclmulqdq", 7, 0, kEcx, 10, kAvxState},
    {"avx512_vnni", 7, 0, kEcx, 11, kAvx512State},
    {"avx512_bitalg", 7, 0, kEcx, 12, kAvx512State},
    {"avx512_vpopcntdq", 7, 0, kEcx, 14, kAvx512State},
    {"amx_bf16", 7, 0, kEdx, 22, kTileState},
    {"avx512_fp16", 7, 0, kEdx, 23, kAvx512State},
    {"amx_tile", 7, 0, kEdx, 24, kTileState},
    {"amx_int8", 7, 0, kEdx, 25, kTileState},
    {"avx_vnni", 7, 1, kEax, 4, kAvxState},
    {"avx_vnni_int8", 7, 1, kEdx, 4, kAvxState},
    {"avx512_bf16", 7, 1, kEax, 5, kAvx512State},
    {"amx_fp16", 7, 1, kEax, 21, kTileState},
    {"avx_ifma", 7, 1, kEax, 23, kAvxState},
};

constexpr bool DetectsEveryTargetFeature() {
  return std::ranges::all_of(kTargetFeatures, [](const TargetFeature& feature) {
    return std::ranges::any_of(kFeatures, [&](const Feature& known) { return known.name == feature.name; });
  });
}
static_assert(DetectsEveryTargetFeature());

inline bool Has(const Feature& feature) {
  uint32_t registers[4];
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[kEax], &registers[kEbx], &registers[kEcx],
                         &registers[kEdx])) {
    return false;
  }
  if ((registers[feature.reg] >> feature.bit & 1) == 0) return false;
  if ((SavedState() & feature.state) != feature.state) return false;
  return feature.state != kTileState || MayUseTiles();
}

#elif defined(__aarch64__)
struct Feature {
  std::string_view name;
};
inline constexpr Feature kFeatures[] = {{"neon"}};

inline bool Has(const Feature&) { return true; }  // part of the base instruction set
#endif

// Null if no feature has that name.
inline const Feature* FindFeature(std::string_view name) {
  const auto known =
      std::ranges::find_if(kFeatures, [&](const Feature& f) { return IsSameFeature(f.name, name); });
  return known == std::end(kFeatures) ? nullptr : known;
}

}  // namespace internal

// The name as kTargetFeatures spells it, for any known spelling; empty for an unknown feature.
inline std::string_view KnownFeature(std::string_view name) {
  const internal::Feature* known = internal::FindFeature(name);
  return known == nullptr ? std::string_view() : known->name;
}

// Whether this machine has the feature, whatever ATTUNE_HOST_CPU says; false for an unknown feature. Asking
// for a tile feature requests permission from the system for this process (tile_permission.h).
inline bool ProcessorHas(std::string_view name) {
  const internal::Feature* known = internal::FindFeature(name);
  return known != nullptr && internal::Has(*known);
}

}  // namespace attune

#endif  // ATTUNE_DEVICE_HOST_FEATURES_H_
