// The constants of an artifact: weights as they are, and what kernels read in their place.
#ifndef ATTUNE_COMPILE_CONSTANTS_H_
#define ATTUNE_COMPILE_CONSTANTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "plan/program.h"
#include "target/target.h"

namespace attune {

struct ConstantSection {
  std::vector<std::byte> bytes;
  std::vector<uint64_t> offsets;  // by storage; 0 for those in the arena
  std::vector<uint64_t> sizes;    // of the constants in their order, in bytes, without their padding
};

// Lays out the constant storages of `plan`. Preparations run as generated code on this machine, compiled for
// it whatever the plan's target is.
absl::StatusOr<ConstantSection> BuildConstants(const NetworkPlan& plan, int threads);

}  // namespace attune

#endif  // ATTUNE_COMPILE_CONSTANTS_H_
