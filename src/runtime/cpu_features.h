// Which instructions this processor has.
#ifndef ATTUNE_RUNTIME_CPU_FEATURES_H_
#define ATTUNE_RUNTIME_CPU_FEATURES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

// "x86_64", "aarch64": what this library is compiled for.
std::string_view HostArch();

// The processor that ATTUNE_HOST_CPU names in place of this one (target/features.h); nullptr where it is
// not set. One that is not known has no feature that generated code needs.
const char* ChosenHostCpu();

// Whether the processor, and the one that ATTUNE_HOST_CPU names, has the feature and the system saves its
// registers. Linux's and LLVM's spellings are both understood ("avx512_bf16", "avx512bf16"). A feature that
// this runtime does not know counts as absent. The first question about tiles ("amx_tile") requests them of
// the system for this process (device/tile_permission.h), and code for them may run once the answer was yes.
bool HostHasFeature(std::string_view feature);

// Those of `features` that the host lacks.
std::vector<std::string> MissingFeatures(std::span<const std::string> features);

}  // namespace attune

#endif  // ATTUNE_RUNTIME_CPU_FEATURES_H_
