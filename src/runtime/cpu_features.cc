#include "runtime/cpu_features.h"

#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "target/features.h"
#include "target/tile_permission.h"

namespace attune {
namespace {

// The name without what Linux ('_'), LLVM ('-', '.') and others write differently.
std::string Squeeze(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != '.') out.push_back(c);
  }
  return out;
}

#if defined(__x86_64__)

enum Register { kEax, kEbx, kEcx, kEdx };

// Bits of XCR0: the registers that the system saves (Intel SDM volume 1, section 13.3).
constexpr uint64_t kNoState = 0;
constexpr uint64_t kAvxState = 0x6;       // XMM, YMM
constexpr uint64_t kAvx512State = 0xE6;   // and opmasks, upper halves, ZMM16-31
constexpr uint64_t kTileState = 0x60000;  // the tiles' configuration and data

// Where cpuid reports a feature (Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E).
struct Feature {
  std::string_view name;  // squeezed
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  int bit;
  uint64_t state;
};

constexpr Feature kFeatures[] = {
    {"sse", 1, 0, kEdx, 25, kNoState},
    {"sse2", 1, 0, kEdx, 26, kNoState},
    {"sse3", 1, 0, kEcx, 0, kNoState},
    {"ssse3", 1, 0, kEcx, 9, kNoState},
    {"sse41", 1, 0, kEcx, 19, kNoState},
    {"sse42", 1, 0, kEcx, 20, kNoState},
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
    {"avx512vbmi2", 7, 0, kEcx, 6, kAvx512State},
    {"gfni", 7, 0, kEcx, 8, kNoState},
    {"vaes", 7, 0, kEcx, 9, kAvxState},
    {"vpclmulqdq", 7, 0, kEcx, 10, kAvxState},
    {"avx512vnni", 7, 0, kEcx, 11, kAvx512State},
    {"avx512bitalg", 7, 0, kEcx, 12, kAvx512State},
    {"avx512vpopcntdq", 7, 0, kEcx, 14, kAvx512State},
    {"amxbf16", 7, 0, kEdx, 22, kTileState},
    {"avx512fp16", 7, 0, kEdx, 23, kAvx512State},
    {"amxtile", 7, 0, kEdx, 24, kTileState},
    {"amxint8", 7, 0, kEdx, 25, kTileState},
    {"avxvnni", 7, 1, kEax, 4, kAvxState},
    {"avxvnniint8", 7, 1, kEdx, 4, kAvxState},
    {"avx512bf16", 7, 1, kEax, 5, kAvx512State},
    {"avxifma", 7, 1, kEax, 23, kAvxState},
};

uint64_t SavedState() {
  uint32_t registers[4];
  if (!__get_cpuid(1, &registers[kEax], &registers[kEbx], &registers[kEcx], &registers[kEdx])) return 0;
  constexpr int kOsXsaveBit = 27;
  if ((registers[kEcx] >> kOsXsaveBit & 1) == 0) return 0;
  uint32_t low;
  uint32_t high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

bool Has(const Feature& feature) {
  uint32_t registers[4];
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[kEax], &registers[kEbx], &registers[kEcx],
                         &registers[kEdx])) {
    return false;
  }
  if ((registers[feature.reg] >> feature.bit & 1) == 0) return false;
  if ((SavedState() & feature.state) != feature.state) return false;
  return feature.state != kTileState || MayUseTiles();
}

// Whether the environment leaves the feature. What no target needs, and is not AVX-512's, no choice takes
// away.
bool IsLeft(std::string_view name) {
  const char* chosen = ChosenHostCpu();
  if (chosen == nullptr) return true;
  for (const TargetFeature& known : kTargetFeatures) {
    if (Squeeze(known.name) == name) return HasAll(FeaturesOf(chosen), FeatureNamed(known.name));
  }
  return !name.starts_with("avx512");
}

#endif

}  // namespace

const char* ChosenHostCpu() {
  const char* chosen = std::getenv(kHostCpuVariable);
  return chosen == nullptr || *chosen == '\0' ? nullptr : chosen;
}

#if defined(__x86_64__)
std::string_view HostArch() { return "x86_64"; }

bool HostHasFeature(std::string_view feature) {
  const std::string name = Squeeze(feature);
  for (const Feature& known : kFeatures) {
    if (known.name == name) return IsLeft(name) && Has(known);
  }
  return false;
}
#elif defined(__aarch64__)
std::string_view HostArch() { return "aarch64"; }

// The base instruction set alone: it has Advanced SIMD.
bool HostHasFeature(std::string_view feature) { return Squeeze(feature) == "neon"; }
#else
#error "Attune's runtime does not know this processor's architecture"
#endif

std::vector<std::string> MissingFeatures(std::span<const std::string> features) {
  std::vector<std::string> missing;
  for (const std::string& feature : features) {
    if (!HostHasFeature(feature)) missing.push_back(feature);
  }
  return missing;
}

}  // namespace attune
