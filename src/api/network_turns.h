// Two compilations of one network, measured in turns on this machine.
#ifndef ATTUNE_API_NETWORK_TURNS_H_
#define ATTUNE_API_NETWORK_TURNS_H_

#include "absl/status/statusor.h"
#include "api/network.h"
#include "tune/job/job.h"

namespace attune {

// Both have code for this machine. Takes `seconds` at the longest: `threads` threads of each by turns, always
// on the same processors, and in several places of memory, since some are faster than others.
absl::StatusOr<NetworkTimes> TimeNetworks(const Network& untuned, const Network& tuned, int threads,
                                          double seconds);
// The same of their kernels.
absl::StatusOr<NetworkProfile> ProfileNetworks(const Network& untuned, const Network& tuned, int threads);

}  // namespace attune

#endif  // ATTUNE_API_NETWORK_TURNS_H_
