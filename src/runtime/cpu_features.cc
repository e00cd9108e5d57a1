#include "runtime/cpu_features.h"

#include <cstdlib>

#include "device/host_features.h"
#include "target/features.h"

namespace attune {

const char* ChosenHostCpu() {
  const char* chosen = std::getenv(kHostCpuVariable);
  return chosen == nullptr || *chosen == '\0' ? nullptr : chosen;
}

#if defined(__x86_64__)
std::string_view HostArch() { return "x86_64"; }
#elif defined(__aarch64__)
std::string_view HostArch() { return "aarch64"; }
#else
#error "Attune's runtime does not know this processor's architecture"
#endif

bool HostHasFeature(std::string_view feature) {
  const std::string_view name = KnownFeature(feature);
  const char* chosen = ChosenHostCpu();
  // Do not request tiles from the system if the environment takes them away.
  if (chosen != nullptr && !KeepsFeature(chosen, name)) return false;
  return ProcessorHas(name);
}

std::vector<std::string> MissingFeatures(std::span<const std::string> features) {
  std::vector<std::string> missing;
  for (const std::string& feature : features) {
    if (!HostHasFeature(feature)) missing.push_back(feature);
  }
  return missing;
}

}  // namespace attune
