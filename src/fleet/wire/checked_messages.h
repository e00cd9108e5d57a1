// Checks what members say to a fleet's server.
//
// Problem: a member may have been taken over, and then says anything: numbers beyond all sense, names that
// are paths or drive terminals, megabytes where a word belongs. Idea: a message is checked here, as a whole
// and before anything of it counts, so that all who use it may rely on these bounds. A member that breaks one
// does not run our program: it is told which (InvalidArgument), and loses its stream.
//
// Tokens, and ids of devices and members, have no bounds: they are only compared with known ones. A priority
// may be any number, since it is only compared, too.
#ifndef ATTUNE_FLEET_WIRE_CHECKED_MESSAGES_H_
#define ATTUNE_FLEET_WIRE_CHECKED_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "fleet/wire/fleet.pb.h"
#include "measure/item.h"

namespace attune {

inline constexpr int kMaxDevicesOfAgent = 64, kMaxKeysOfDevice = 32, kMaxSensors = 256;
inline constexpr int kMaxLacksOfAgent = 1024, kMaxMissingBlobs = 3;
inline constexpr int kMaxItemsOfLease = 4096, kMaxPromisedKeys = 1024;
inline constexpr size_t kMaxItemBytes = size_t{8} << 10;  // so that all of a lease fit in a message
inline constexpr size_t kMaxKeyBytes = 256, kMaxChangeReasonBytes = 1024;
inline constexpr double kMaxLoad = 1e6;
// The most for a request for a certificate, which usually has a kilobyte.
inline constexpr size_t kMaxRequestPemBytes = size_t{16} << 10;

// A device that an agent offers.
struct OfferedDevice {
  std::string name;  // without a slash
  std::string fingerprint;
  std::string info;              // device/codec.h, without what that does not know
  std::set<std::string> keys;    // that it can be asked for by, besides its fingerprint
  std::set<std::string> owners;  // whose work alone it takes; none: everybody's
  std::vector<std::string> sensors;
};
// The offer of an agent.
struct AgentOffer {
  std::string program;
  std::vector<std::string> lacks;
  std::vector<OfferedDevice> devices;  // each with another name
};

// An agent's message, checked, apart from tokens and indices.
struct AgentSays {
  AgentOffer offer;         // of a hello
  Measurement measurement;  // of a result
};

// FailedPrecondition if the agent speaks another version.
absl::StatusOr<AgentSays> Checked(const fleet_proto::FromAgent& message);
// FailedPrecondition if the client speaks another version.
absl::Status Check(const fleet_proto::FromClient& message);

absl::Status Check(const fleet_proto::EnrolRequest& request);
absl::Status Check(const fleet_proto::RenewRequest& request);
absl::Status Check(const fleet_proto::QueueRequest& request);
absl::Status Check(const fleet_proto::DeviceChange& change);
absl::Status Check(const fleet_proto::DeviceSharing& sharing);
absl::Status Check(const fleet_proto::TrustChange& change);
absl::Status Check(const fleet_proto::RevokeRequest& request);

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

#endif  // ATTUNE_FLEET_WIRE_CHECKED_MESSAGES_H_
