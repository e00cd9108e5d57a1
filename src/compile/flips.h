// Layouts by measured times.
#ifndef ATTUNE_COMPILE_FLIPS_H_
#define ATTUNE_COMPILE_FLIPS_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "plan/blocks.h"
#include "plan/chooser.h"
#include "target/target.h"

namespace attune {

// The classes of `graph`, a graph of fused groups, that are to be flipped: one after the other, each if the
// kernels that there are then instead take less time, as `chooser` knows them all. Where it does not, what is
// predicted stays.
absl::StatusOr<BlockFlips> ChooseFlips(const Graph& graph, const Target& target,
                                       const KernelChooser& chooser);

}  // namespace attune

#endif  // ATTUNE_COMPILE_FLIPS_H_
