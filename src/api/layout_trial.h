// Whether a network is faster with other blocks for some of its maps.
#ifndef ATTUNE_API_LAYOUT_TRIAL_H_
#define ATTUNE_API_LAYOUT_TRIAL_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "api/network.h"
#include "tune/job/job.h"

namespace attune {

// Measures an optimized network on this machine in turns, with the blocks that either says and with the
// kernels that `best` has for tasks; others have the default. `is_adopted`: whether the new ones are faster,
// where that is known.
absl::StatusOr<LayoutTrial> TryFlips(const Network& network, const BlockFlips& now, const BlockFlips& flipped,
                                     const std::map<std::string, Candidate>& best, const Target& target,
                                     int threads, std::optional<bool> is_adopted);

}  // namespace attune

#endif  // ATTUNE_API_LAYOUT_TRIAL_H_
