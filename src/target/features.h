// The named processors by the instruction sets that they have. This file stands alone, so that the runtime,
// which has no dependencies, reads the same list as the compiler.
//
// ATTUNE_HOST_CPU=NAME in the environment makes this machine one of them for the compiler (HostTarget) and
// the runtime (HostHasFeature) alike. It only takes instructions away: a program is as safe with it as
// without.
#ifndef ATTUNE_TARGET_FEATURES_H_
#define ATTUNE_TARGET_FEATURES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attune {

inline constexpr const char kHostCpuVariable[] = "ATTUNE_HOST_CPU";

// An instruction set that generated code may need.
struct TargetFeature {
  std::string_view name;       // as artifacts spell it
  std::string_view attribute;  // LLVM's for what is beyond x86-64-v3 and x86-64-v4
};

inline constexpr TargetFeature kTargetFeatures[] = {
    {"avx2", ""},
    {"fma", ""},
    {"f16c", ""},
    {"avx_vnni", "+avxvnni"},
    {"avx_vnni_int8", "+avxvnniint8"},
    {"avx512f", ""},
    {"avx512bw", ""},
    {"avx512dq", ""},
    {"avx512vl", ""},
    {"avx512_vnni", "+avx512vnni"},
    {"avx512_bf16", "+avx512bf16"},
    {"amx_tile", "+amx-tile"},
    {"amx_int8", "+amx-int8"},
    {"amx_bf16", "+amx-bf16"},
};

// One bit for each row of kTargetFeatures.
using FeatureSet = uint32_t;

// Empty where there is no such feature.
constexpr FeatureSet FeatureNamed(std::string_view name) {
  FeatureSet bit = 1;
  for (const TargetFeature& feature : kTargetFeatures) {
    if (feature.name == name) return bit;
    bit <<= 1;
  }
  return 0;
}

constexpr bool HasAll(FeatureSet features, FeatureSet wanted) { return (features & wanted) == wanted; }

inline constexpr FeatureSet kAvx2 = FeatureNamed("avx2") | FeatureNamed("fma") | FeatureNamed("f16c");
inline constexpr FeatureSet kAvxVnni = kAvx2 | FeatureNamed("avx_vnni");
inline constexpr FeatureSet kAvxVnniInt8 = kAvxVnni | FeatureNamed("avx_vnni_int8");
inline constexpr FeatureSet kAvx512 = kAvx2 | FeatureNamed("avx512f") | FeatureNamed("avx512bw") |
                                      FeatureNamed("avx512dq") | FeatureNamed("avx512vl");
inline constexpr FeatureSet kAvx512Vnni = kAvx512 | FeatureNamed("avx512_vnni");
inline constexpr FeatureSet kAvx512Bf16 = kAvx512Vnni | FeatureNamed("avx512_bf16");
inline constexpr FeatureSet kTiles =
    FeatureNamed("amx_tile") | FeatureNamed("amx_int8") | FeatureNamed("amx_bf16");
inline constexpr FeatureSet kAmx = kAvx512Bf16 | kTiles;

struct NamedProcessor {
  std::string_view name;  // as --cpu takes it
  FeatureSet features;
};

inline constexpr NamedProcessor kProcessors[] = {
    {"x86-64-v3", kAvx2},
    {"x86-64-v4", kAvx512},
    {"haswell", kAvx2},
    {"avx2", kAvx2},
    {"alderlake", kAvxVnni},
    {"arrowlake", kAvxVnniInt8},
    {"sierraforest", kAvxVnniInt8},
    {"skylake-avx512", kAvx512},
    {"cascadelake", kAvx512Vnni},
    {"icelake-server", kAvx512Vnni},
    {"cooperlake", kAvx512Bf16},
    {"sapphirerapids", kAmx},
    {"emeraldrapids", kAmx},
    {"graniterapids", kAmx},
    {"znver2", kAvx2},
    {"znver3", kAvx2},
    {"znver4", kAvx512Bf16},
    {"znver5", kAvx512Bf16},
};

// Empty where there is no such processor.
constexpr FeatureSet FeaturesOf(std::string_view name) {
  for (const NamedProcessor& processor : kProcessors) {
    if (processor.name == name) return processor.features;
  }
  return 0;
}

// Whether a machine that has a feature still has it when it looks like the processor of that name. A
// feature that no target needs stays, unless it is AVX-512's or AMX's.
constexpr bool KeepsFeature(std::string_view processor, std::string_view feature) {
  if (const FeatureSet bit = FeatureNamed(feature); bit != 0) return HasAll(FeaturesOf(processor), bit);
  return !feature.starts_with("avx512") && !feature.starts_with("amx");
}

}  // namespace attune

#endif  // ATTUNE_TARGET_FEATURES_H_
