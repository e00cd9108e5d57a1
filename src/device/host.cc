// Detects the processor of this machine from cpuid and the system's files. Does not use LLVM, so that every
// program that needs to know its device stays small.
#include "device/host.h"

#include <cpuid.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/face.h"
#include "base/status.h"
#include "device/host_features.h"
#include "target/features.h"
#include "target/target.h"

namespace attune {
namespace {

struct Identity {
  std::string vendor;  // "AuthenticAMD", "GenuineIntel"
  std::string brand;   // "AMD EPYC 9B14 96-Core Processor"
  unsigned family = 0;
};

Identity ReadIdentity() {
  Identity id;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx)) {
    for (unsigned word : {ebx, edx, ecx}) id.vendor.append(reinterpret_cast<const char*>(&word), 4);
  }
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
    id.family = (eax >> 8) & 0xF;
    if (id.family == 0xF) id.family += (eax >> 20) & 0xFF;
  }
  for (unsigned leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    unsigned words[4];
    if (!__get_cpuid(leaf, &words[0], &words[1], &words[2], &words[3])) break;
    char text[sizeof(words) + 1] = {};
    std::memcpy(text, words, sizeof(words));
    id.brand += text;
  }
  absl::StripAsciiWhitespace(&id.brand);
  return id;
}

// The features in `wanted` that this processor has. Asks the system for tiles only if they are wanted.
FeatureSet HostFeatures(FeatureSet wanted) {
  FeatureSet own = 0;
  for (const TargetFeature& feature : kTargetFeatures) {
    const FeatureSet bit = FeatureNamed(feature.name);
    if (HasAll(wanted, bit) && ProcessorHas(feature.name)) own |= bit;
  }
  return own;
}

// The best target whose instructions this processor has all of; empty without AVX2.
std::string BestName(const Identity& id) {
  const bool amd = id.vendor == "AuthenticAMD";
  const FeatureSet own = HostFeatures(~FeatureSet{0});
  // Sapphire and Emerald Rapids cannot multiply f16 tiles.
  if (HasAll(own, kAmx)) return ProcessorHas("amx_fp16") ? "graniterapids" : "sapphirerapids";
  if (HasAll(own, kAvx512Bf16)) {
    if (!amd) return "cooperlake";
    return id.family >= 0x1A ? "znver5" : "znver4";
  }
  if (HasAll(own, kAvx512Vnni)) return ProcessorHas("avx512_vbmi2") ? "icelake-server" : "cascadelake";
  if (HasAll(own, kAvx512)) return "skylake-avx512";
  if (HasAll(own, kAvxVnniInt8)) return absl::StrContains(id.brand, "Xeon") ? "sierraforest" : "arrowlake";
  if (HasAll(own, kAvxVnni)) return "alderlake";
  if (!HasAll(own, kAvx2)) return "";
  if (!amd) return "haswell";
  return id.family >= 0x19 ? "znver3" : "znver2";
}

// The target that the environment variable names.
absl::StatusOr<Target> ChosenTarget(const std::string& name) {
  absl::StatusOr<Target> target = TargetByName(name);
  if (!target.ok()) return Annotate(target.status(), kHostCpuVariable);
  if (const FeatureSet needed = FeaturesOf(name); HostFeatures(needed) != needed) {
    return InvalidInput(kHostCpuVariable, "=", name, ": this processor lacks some of its instructions; ",
                        "name one with fewer, or compile for it with ", NameAsGiven("--cpu", "cpus"));
  }
  return target;
}

absl::StatusOr<Target> BestTarget() {
  const std::string name = BestName(ReadIdentity());
  if (name.empty()) {
    return NotSupported("this processor lacks AVX2, FMA or F16C, which the generated code needs; ",
                        "name the device's processor with ", NameAsGiven("--cpu", "cpus"),
                        " to compile for another machine");
  }
  return TargetByName(name);
}

// In bytes; 0: the system does not say.
struct CacheSizes {
  int64_t l1 = 0, l2 = 0, l3 = 0;
};

CacheSizes ReadCacheSizes() {
  CacheSizes sizes;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = absl::StrCat("/sys/devices/system/cpu/cpu0/cache/index", index, "/");
    std::string type, size;
    int level = 0;
    int64_t kib = 0;
    if (!(std::ifstream(folder + "type") >> type) || !(std::ifstream(folder + "level") >> level) ||
        !(std::ifstream(folder + "size") >> size)) {
      continue;
    }
    if (type == "Instruction" || size.empty() || size.back() != 'K') continue;
    if (!absl::SimpleAtoi(size.substr(0, size.size() - 1), &kib) || kib <= 0) continue;
    if (level == 1) sizes.l1 = kib * 1024;
    if (level == 2) sizes.l2 = kib * 1024;
    if (level == 3) sizes.l3 = kib * 1024;
  }
  return sizes;
}

// Replaces the typical cache sizes with those that the system reports. Asks it once, since a process may
// leave the system's files.
void ReplaceCacheSizes(Target* target) {
  static const CacheSizes sizes = ReadCacheSizes();
  if (sizes.l1 > 0) target->l1_bytes = sizes.l1;
  if (sizes.l2 > 0) target->l2_bytes = sizes.l2;
  if (sizes.l3 > 0) target->l3_bytes = sizes.l3;
}

}  // namespace

absl::StatusOr<Target> HostTarget() {
  const char* chosen = std::getenv(kHostCpuVariable);
  ASSIGN_OR_RETURN(Target target, chosen == nullptr || *chosen == '\0' ? BestTarget() : ChosenTarget(chosen));
  ReplaceCacheSizes(&target);
  target.cores = static_cast<int>(std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN)));
  return target;
}

std::string DeviceFingerprint() {
  const Identity id = ReadIdentity();
  std::string model;
  for (char c : absl::AsciiStrToLower(id.brand)) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      model += c;
    } else if (!model.empty() && model.back() != '-') {
      model += '-';
    }
  }
  const absl::StatusOr<Target> target = HostTarget();
  if (!target.ok()) return model;
  return absl::StrCat(model, "/", target->name, "/l1-", target->l1_bytes / 1024, "k/l2-",
                      target->l2_bytes / 1024, "k/l3-", target->l3_bytes / 1024, "k");
}

}  // namespace attune
