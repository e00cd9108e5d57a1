// Compares the speed of two networks on this machine.
#ifndef ATTUNE_API_NETWORK_SECONDS_H_
#define ATTUNE_API_NETWORK_SECONDS_H_

#include <array>

#include "absl/status/statusor.h"
#include "base/progress.h"
#include "graph/graph.h"

namespace attune {

// Compiles both graphs for this machine and returns the median seconds of one inference of each, on `threads`
// threads (0: all processors) and random inputs. Their runs are interleaved, so that other programs disturb
// both alike. Takes some seconds; fails as compiling does, or as `control` says.
absl::StatusOr<std::array<double, 2>> CompareSeconds(const Graph& first, const Graph& second, int threads,
                                                     const WorkControl& control);

}  // namespace attune

#endif  // ATTUNE_API_NETWORK_SECONDS_H_
