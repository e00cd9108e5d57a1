// The instruction sets of this processor.
#ifndef ATTUNE_RUNTIME_CPU_FEATURES_H_
#define ATTUNE_RUNTIME_CPU_FEATURES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

// The architecture that this library is compiled for: "x86_64" or "aarch64".
std::string_view HostArch();

// The processor that ATTUNE_HOST_CPU names in place of this one (target/features.h); nullptr if it is not
// set. An unknown processor has none of the features that generated code needs.
const char* ChosenHostCpu();

// Whether the processor has the feature, the one that ATTUNE_HOST_CPU names has it, too, and the system
// saves its registers. Accepts Linux's and LLVM's spellings ("avx512_bf16", "avx512bf16"). A feature that
// this runtime does not know counts as absent. The first query for tiles ("amx_tile") requests permission
// from the system for this process (device/tile_permission.h); code for tiles may run only after a query
// returned true.
bool HostHasFeature(std::string_view feature);

// The `features` that the host lacks.
std::vector<std::string> MissingFeatures(std::span<const std::string> features);

}  // namespace attune

#endif  // ATTUNE_RUNTIME_CPU_FEATURES_H_
