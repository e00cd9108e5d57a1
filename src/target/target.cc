#include "target/target.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "target/features.h"
#include "target/products.h"

namespace attune {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;

struct Row {
  const char* name;  // one of kProcessors
  const char* tune;  // LLVM's name of the processor to schedule for
  int64_t l1, l2, l3;
  double clock_ghz;
  double fma_per_cycle;
  // Bytes that one core reads.
  double l2_per_cycle = Target().l2_bytes_per_cycle;
  double l3_per_cycle = Target().l3_bytes_per_cycle;
  double dram_per_cycle = Target().dram_bytes_per_cycle;
};

// Caches and clocks as the vendors' data sheets give them; for the generic levels, a modest machine.
// Throughputs: Agner Fog, Instruction tables; uops.info. Zen 4 splits a 512-bit FMA over two 256-bit pipes.
// Bytes that a core reads from its caches and memory in a cycle, where a row has them: as `attune profile`
// measured them on a Xeon of 3.85 GHz, whose L3 is large, far away and hardly faster than memory. Its
// successors have the same mesh, and so the same numbers; so has cooperlake, the row of Xeons whose
// hypervisor hides AMX.
constexpr Row kTargets[] = {
    {"x86-64-v3", "haswell", 32 * kKiB, 512 * kKiB, 8 * kMiB, 3.0, 2},
    {"x86-64-v4", "skylake-avx512", 32 * kKiB, kMiB, 16 * kMiB, 2.7, 2},
    {"haswell", "haswell", 32 * kKiB, 256 * kKiB, 8 * kMiB, 3.4, 2},
    {"avx2", "haswell", 32 * kKiB, 256 * kKiB, 8 * kMiB, 3.4, 2},
    {"alderlake", "alderlake", 48 * kKiB, 1280 * kKiB, 30 * kMiB, 3.6, 2},
    {"arrowlake", "alderlake", 48 * kKiB, 3 * kMiB, 36 * kMiB, 3.7, 2},
    {"sierraforest", "alderlake", 32 * kKiB, kMiB, 108 * kMiB, 2.6, 1},
    {"skylake-avx512", "skylake-avx512", 32 * kKiB, kMiB, 24 * kMiB, 2.7, 2},
    {"cascadelake", "cascadelake", 32 * kKiB, kMiB, 24 * kMiB, 2.7, 2},
    {"icelake-server", "icelake-server", 48 * kKiB, 1280 * kKiB, 32 * kMiB, 2.9, 2},
    {"cooperlake", "cooperlake", 32 * kKiB, kMiB, 38 * kMiB, 2.9, 2, 44, 5, 3.4},
    {"sapphirerapids", "sapphirerapids", 48 * kKiB, 2 * kMiB, 60 * kMiB, 3.0, 2, 44, 5, 3.4},
    {"emeraldrapids", "emeraldrapids", 48 * kKiB, 2 * kMiB, 160 * kMiB, 3.0, 2, 44, 5, 3.4},
    {"graniterapids", "graniterapids", 48 * kKiB, 2 * kMiB, 288 * kMiB, 2.9, 2, 44, 5, 3.4},
    {"znver2", "znver2", 32 * kKiB, 512 * kKiB, 16 * kMiB, 3.2, 2},
    {"znver3", "znver3", 32 * kKiB, 512 * kKiB, 32 * kMiB, 3.4, 2},
    {"znver4", "znver4", 32 * kKiB, kMiB, 32 * kMiB, 3.6, 1},
    {"znver5", "znver5", 48 * kKiB, kMiB, 32 * kMiB, 3.8, 2},
};

constexpr bool NamesEveryProcessor() {
  for (const NamedProcessor& processor : kProcessors) {
    if (std::none_of(std::begin(kTargets), std::end(kTargets),
                     [&](const Row& row) { return processor.name == row.name; })) {
      return false;
    }
  }
  return std::size(kTargets) == std::size(kProcessors);
}
static_assert(NamesEveryProcessor());

Target MakeTarget(const Row& row) {
  const FeatureSet features = FeaturesOf(row.name);
  const bool avx512 = HasAll(features, kAvx512);
  Target target;
  target.name = row.name;
  target.llvm_cpu = avx512 ? "x86-64-v4" : "x86-64-v3";
  target.llvm_tune = row.tune;
  std::vector<std::string_view> attributes;
  for (const TargetFeature& feature : kTargetFeatures) {
    if (!HasAll(features, FeatureNamed(feature.name))) continue;
    target.required_features.emplace_back(feature.name);
    if (!feature.attribute.empty()) attributes.push_back(feature.attribute);
  }
  target.llvm_features = absl::StrJoin(attributes, ",");
  if (avx512) {
    target.vector_bits = 512;
    target.num_vector_registers = 32;
  }
  target.l1_bytes = row.l1;
  target.l2_bytes = row.l2;
  target.l3_bytes = row.l3;
  target.clock_ghz = row.clock_ghz;
  target.fma_per_cycle = target.half_fma_per_cycle = row.fma_per_cycle;
  const bool intel = !std::string_view(row.tune).starts_with("znver");
  target.bf16_dots_per_cycle = intel ? row.fma_per_cycle / 4 : row.fma_per_cycle;
  target.l2_bytes_per_cycle = row.l2_per_cycle;
  target.l3_bytes_per_cycle = row.l3_per_cycle;
  target.dram_bytes_per_cycle = row.dram_per_cycle;
  target.fast_permutes = avx512 && intel;
  if (avx512 && row.fma_per_cycle == 1) {  // in two halves
    target.half_fma_per_cycle = 2;
    target.loads_per_cycle = 1;
  }
  return target;
}

Target WithModelled(Target base, FeatureSet features) {
  for (const TargetFeature& feature : kTargetFeatures) {
    if (HasAll(features, FeatureNamed(feature.name)) && !base.Has(feature.name))
      base.modelled_features.emplace_back(feature.name);
  }
  return base;
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The feature that the first instruction for pairs of bf16 needs; empty where the target has such an
// instruction.
std::string_view MissingForBF16(std::span<const ProductInstruction> instructions, const Target& target) {
  if (FindProduct(instructions, target, DType::kF32, DType::kBF16, DType::kBF16) != nullptr) return "";
  return std::ranges::find(instructions, DType::kBF16, &ProductInstruction::left)->feature;
}

}  // namespace

bool Target::Has(std::string_view feature) const {
  return Contains(required_features, feature) || IsModelled(feature);
}

bool Target::IsModelled(std::string_view feature) const { return Contains(modelled_features, feature); }

Target WithModelledTiles(Target base) { return WithModelled(std::move(base), kTiles); }
Target WithModelledProducts(Target base) {
  return WithModelled(std::move(base), FeatureNamed("avx_vnni") | FeatureNamed("avx_vnni_int8"));
}

std::string_view MissingForDotsOfBF16(const Target& target) {
  return MissingForBF16(kDotInstructions, target);
}
std::string_view MissingForMatricesOfBF16(const Target& target) {
  return MissingForBF16(kMatrixInstructions, target);
}

std::string_view MissingForDotsOfInt8(const Target& target) {
  for (const std::span<const ProductInstruction> instructions :
       {std::span<const ProductInstruction>(kDotInstructions),
        std::span<const ProductInstruction>(kMatrixInstructions)}) {
    if (FindProduct(instructions, target, DType::kI32, DType::kU8, DType::kI8) != nullptr) return "";
  }
  return "VNNI";
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Row& row : kTargets) names.push_back(row.name);
  return names;
}

absl::StatusOr<Target> TargetByName(std::string_view name) {
  for (const Row& row : kTargets) {
    if (name == row.name) return MakeTarget(row);
  }
  return InvalidInput(
      "no processor is named '", name,
      "'; Attune compiles for x86-64 processors with AVX2 or later: ", absl::StrJoin(TargetNames(), ", "));
}

}  // namespace attune
