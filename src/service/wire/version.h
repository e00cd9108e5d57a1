// The version of what clients, runners and a server of jobs say to one another (jobs.proto).
#ifndef ATTUNE_SERVICE_WIRE_VERSION_H_
#define ATTUNE_SERVICE_WIRE_VERSION_H_

#include <cstdint>

namespace attune {

// Increases with each change that the other side would misunderstand.
inline constexpr uint32_t kJobsVersion = 3;

}  // namespace attune

#endif  // ATTUNE_SERVICE_WIRE_VERSION_H_
