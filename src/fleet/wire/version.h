// The version of what is said in a fleet (fleet.proto).
#ifndef ATTUNE_FLEET_WIRE_VERSION_H_
#define ATTUNE_FLEET_WIRE_VERSION_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace attune {

// Increases with each change that the other side would misunderstand.
inline constexpr uint32_t kFleetVersion = 1;
// The oldest version that a server of this one still understands.
inline constexpr uint32_t kLeastFleetVersion = 1;

// FailedPrecondition if a server of this version does not understand a peer of that one. `peer`: "agent".
inline absl::Status CheckFleetVersion(std::string_view peer, uint32_t version) {
  if (version >= kLeastFleetVersion && version <= kFleetVersion) return absl::OkStatus();
  const bool is_old = version < kLeastFleetVersion;
  return absl::FailedPreconditionError(
      absl::StrCat("the ", peer, " speaks version ", version, " and the server ", kLeastFleetVersion, " to ",
                   kFleetVersion, "; update the ", is_old ? peer : "server"));
}

}  // namespace attune

#endif  // ATTUNE_FLEET_WIRE_VERSION_H_
