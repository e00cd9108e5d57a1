// The weights of an artifact: constants as they are, the forms that kernels read instead, and which of
// these forms the runtime makes when it loads the file.
#ifndef ATTUNE_COMPILE_WEIGHTS_H_
#define ATTUNE_COMPILE_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/artifact.h"
#include "plan/program.h"
#include "tensor/stmt.h"

namespace attune {

// One of the plans that an artifact is made of.
struct PlanOfVariant {
  const NetworkPlan* plan;
  size_t variant;  // whose target it was planned for
};

struct PlacedWeights {
  // The constants' section, and the sizes of the constants in it, in their order, without their padding.
  std::vector<std::byte> section;
  std::vector<uint64_t> sizes;

  // The place of each storage, by plan and storage. Storages in the arena have no offset.
  struct Location {
    Place place = Place::kArena;
    uint64_t offset = 0;
  };
  std::vector<std::vector<Location>> locations;

  // The forms that the runtime makes for each variant. The prepackings' kernels are indices into `kernels`,
  // which are not compiled yet and whose names differ from those of all other kernels.
  struct OfVariant {
    std::vector<LoopNest> kernels;
    std::vector<Prepacking> prepackings;
    uint64_t prepacked_bytes = 0;
  };
  std::vector<OfVariant> variants;
};

// Places the constant storages of `plans`, which are of `variants` variants. Equal constants are stored
// once, and so are equal prepacked forms. The forms of a constant are stored where they take little more
// than the constant does, and are mapped when the file is loaded. Otherwise (for Winograd's transforms, and
// for several variants with layouts of their own) the constant is stored and the runtime makes the forms.
// An i16 constant whose elements fit i8 is then stored as i8.
//
// Forms that are stored are made by generated code on this machine, compiled for it whatever the plan's
// target is, on `threads` threads.
absl::StatusOr<PlacedWeights> PlaceWeights(std::span<const PlanOfVariant> plans, size_t variants,
                                           int threads);

}  // namespace attune

#endif  // ATTUNE_COMPILE_WEIGHTS_H_
