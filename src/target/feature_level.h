// The named processors by the instructions that they have. It stands alone, so that the runtime, which has no
// dependencies, reads the same list as the compiler.
//
// ATTUNE_HOST_CPU=NAME in the environment makes this machine one of them for the compiler (HostTarget) and
// the runtime (HostHasFeature) alike. It only takes instructions away: a program is as safe with it as
// without.
#ifndef ATTUNE_TARGET_FEATURE_LEVEL_H_
#define ATTUNE_TARGET_FEATURE_LEVEL_H_

#include <string_view>

namespace attune {

inline constexpr const char kHostCpuVariable[] = "ATTUNE_HOST_CPU";

// Each has the instructions of those before it. A processor whose level is kNone runs nothing of ours.
enum class FeatureLevel { kNone, kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16, kAmx };

struct NamedProcessor {
  std::string_view name;  // as --cpu takes it
  FeatureLevel level;
};

inline constexpr NamedProcessor kProcessors[] = {
    {"x86-64-v3", FeatureLevel::kAvx2},
    {"x86-64-v4", FeatureLevel::kAvx512},
    {"haswell", FeatureLevel::kAvx2},
    {"avx2", FeatureLevel::kAvx2},
    {"skylake-avx512", FeatureLevel::kAvx512},
    {"cascadelake", FeatureLevel::kAvx512Vnni},
    {"icelake-server", FeatureLevel::kAvx512Vnni},
    {"cooperlake", FeatureLevel::kAvx512Bf16},
    {"sapphirerapids", FeatureLevel::kAmx},
    {"emeraldrapids", FeatureLevel::kAmx},
    {"graniterapids", FeatureLevel::kAmx},
    {"znver2", FeatureLevel::kAvx2},
    {"znver3", FeatureLevel::kAvx2},
    {"znver4", FeatureLevel::kAvx512Bf16},
    {"znver5", FeatureLevel::kAvx512Bf16},
};

// The features that generated code may need, as artifacts spell them, and the first level that has each.
struct LevelFeature {
  std::string_view name;
  FeatureLevel level;
};

inline constexpr LevelFeature kLevelFeatures[] = {
    {"avx2", FeatureLevel::kAvx2},
    {"fma", FeatureLevel::kAvx2},
    {"f16c", FeatureLevel::kAvx2},
    {"avx512f", FeatureLevel::kAvx512},
    {"avx512bw", FeatureLevel::kAvx512},
    {"avx512dq", FeatureLevel::kAvx512},
    {"avx512vl", FeatureLevel::kAvx512},
    {"avx512_vnni", FeatureLevel::kAvx512Vnni},
    {"avx512_bf16", FeatureLevel::kAvx512Bf16},
    {"amx_tile", FeatureLevel::kAmx},
    {"amx_int8", FeatureLevel::kAmx},
    {"amx_bf16", FeatureLevel::kAmx},
};

// kNone where there is no such processor.
constexpr FeatureLevel LevelOf(std::string_view name) {
  for (const NamedProcessor& processor : kProcessors) {
    if (processor.name == name) return processor.level;
  }
  return FeatureLevel::kNone;
}

}  // namespace attune

#endif  // ATTUNE_TARGET_FEATURE_LEVEL_H_
