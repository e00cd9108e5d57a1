// The weights of an artifact: constants as they are, what kernels read in their stead, and which of these the
// runtime makes when it loads the file.
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

  // Where each storage lies, by plan and storage; those in the arena are not told.
  struct Location {
    Place place = Place::kArena;
    uint64_t offset = 0;
  };
  std::vector<std::vector<Location>> locations;

  // What the runtime makes for each variant. The prepackings' kernels are indices into `kernels`, which are
  // not compiled yet and whose names differ from those of all other kernels.
  struct OfVariant {
    std::vector<LoopNest> kernels;
    std::vector<Prepacking> prepackings;
    uint64_t prepacked_bytes = 0;
  };
  std::vector<OfVariant> variants;
};

// Places the constant storages of `plans`, which are of `variants` variants. Equal constants are stored once,
// and so are those that are prepacked alike. The prepacked forms of a constant are stored where they take
// little more than it does, and are mapped when the file is loaded; otherwise, which is so for Winograd's
// transforms and for several variants with layouts of their own, the constant is stored and the forms are
// made by the runtime. An i16 constant whose elements fit i8 is stored as i8 then.
//
// Forms that are stored are made by generated code on this machine, compiled for it whatever the plan's
// target is, on `threads` threads.
absl::StatusOr<PlacedWeights> PlaceWeights(std::span<const PlanOfVariant> plans, size_t variants,
                                           int threads);

}  // namespace attune

#endif  // ATTUNE_COMPILE_WEIGHTS_H_
