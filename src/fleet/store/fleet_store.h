// The memory of the fleet's server across restarts: admitted members, invitations, and leases.
#ifndef ATTUNE_FLEET_STORE_FLEET_STORE_H_
#define ATTUNE_FLEET_STORE_FLEET_STORE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/peaks.h"
#include "fleet/identity/certificate.h"
#include "fleet/leases/fleet_leases.h"

namespace attune {

// Each text below is printable and has 1 to 256 bytes, unless its comment says otherwise. Times are
// milliseconds since 1970, UTC.

struct Revocation {
  std::string reason = {};  // for people; 1 to 1024 bytes
  int64_t time_ms = 0;

  bool operator==(const Revocation&) const = default;
};

struct IssuedCertificate {
  CertificateFacts facts = {};
  bool is_shown = false;  // by its holder, which has received it
  std::optional<Revocation> revocation = {};
};

struct PendingInvitation {
  std::string digest = {};  // Sha256Hex() of the secret
  FleetRole role = FleetRole::kClient;
  std::string owner = {};
  int64_t end_ms = 0;  // it counts before that

  bool operator==(const PendingInvitation&) const = default;
};

struct HeldLease {
  LeaseToken token = {};
  std::string device = {}, owner = {}, key = {};  // `owner` is the holder's, `key` that of the request
};

struct FleetDevice {
  std::string id = {};
  std::string agent = {};  // the id of the identity that it is connected by
  std::string owner = {};
  std::set<std::string> keys = {};          // at most 64; it can be asked for by these
  std::set<std::string> shared_with = {};   // at most 1024 owners who may use it besides its own; kEveryOwner
  std::string info = {};                    // any bytes, at most 1 MiB
  std::optional<std::string> drained = {};  // why it is not given out; 1 to 1024 bytes
  int64_t last_seen_ms = 0;

  bool operator==(const FleetDevice&) const = default;
};

struct Calibration {
  int64_t time_ms = 0;
  Peaks peaks = {};  // l2_bytes is not kept
};
// The calibrations that are kept of a device: those of its baseline, and this many latest ones, for people
// too.
inline constexpr int kFirstCalibrationsKept = 5, kLatestCalibrationsKept = 27;

// Check that a store may keep these: the bounds above, and names that a certificate can hold. Stores check
// what they are given, and again what they read.
absl::Status CheckStorable(const CertificateFacts& facts);
absl::Status CheckStorable(const Revocation& revocation);
absl::Status CheckStorable(const PendingInvitation& invitation);
absl::Status CheckStorable(const HeldLease& lease);
absl::Status CheckStorable(const FleetDevice& device);
absl::Status CheckStorable(const Calibration& calibration);
absl::Status CheckReason(const std::string& reason);
absl::Status CheckOwners(const std::set<std::string>& owners);

// A call has taken effect when it returns: neither the end of the process nor a power cut undoes it. A call
// that fails has no effect. All errors name the database: InvalidArgument for what CheckStorable() refuses,
// DataLoss if the database holds what no store has written, and what the database itself reports. Thread
// safe.
class FleetStore {
 public:
  virtual ~FleetStore() = default;

  // Keeps a certificate that the authority has issued. AlreadyExists if the serial is known. The authority is
  // empty where it was not stored, as for certificates of earlier versions of Attune.
  virtual absl::Status AddCertificate(const CertificateFacts& facts) = 0;
  // Its holder has shown the certificate with this serial. NotFound if there is none.
  virtual absl::Status SetShown(const std::string& serial) = 0;
  // Revoke the certificate with this serial, or all of the identity. A certificate that is revoked already
  // keeps its first revocation. NotFound if there is none.
  virtual absl::Status RevokeCertificate(const std::string& serial, const Revocation& revocation) = 0;
  virtual absl::Status RevokeIdentity(const std::string& id, const Revocation& revocation) = 0;
  // Revokes all certificates of the owner that are not revoked already, and forgets the owner's invitations.
  // Returns how many there were of both.
  virtual absl::StatusOr<int64_t> RevokeOwner(const std::string& owner, const Revocation& revocation) = 0;
  // Forgets certificates that have ended at this time or before, revoked or not.
  virtual absl::Status ForgetCertificates(int64_t ended_ms) = 0;

  // Returns the certificate with this serial; nothing if none is known.
  virtual absl::StatusOr<std::optional<IssuedCertificate>> FindCertificate(const std::string& serial) = 0;
  // Returns those of the serials that are revoked.
  virtual absl::StatusOr<std::set<std::string>> RevokedAmong(const std::set<std::string>& serials) = 0;
  // Returns how many certificates would be valid if they were not revoked: their end is after `now_ms`.
  virtual absl::StatusOr<int64_t> NumRevoked(int64_t now_ms) = 0;
  // Returns those that are not revoked and end after `now_ms`, by their start.
  virtual absl::StatusOr<std::vector<IssuedCertificate>> ValidCertificates(int64_t now_ms) = 0;

  // AlreadyExists if the digest is known.
  virtual absl::Status AddInvitation(const PendingInvitation& invitation) = 0;
  // Removes the invitation with this secret and returns it; of any number of calls, one gets it. Nothing if
  // it is unknown, was taken, or has ended. Forgets all that have ended.
  virtual absl::StatusOr<std::optional<PendingInvitation>> TakeInvitation(const std::string& secret,
                                                                          int64_t now_ms) = 0;

  // A number that is larger than all that it has returned before, for FleetLeases; the first is 1.
  virtual absl::StatusOr<int64_t> NextEpoch() = 0;

  // Keeps the device's lease, in place of the one that it had.
  virtual absl::Status PutLease(const HeldLease& lease) = 0;
  // Forgets the lease, if it is known.
  virtual absl::Status EndLease(const LeaseToken& token) = 0;
  // In the order of their tokens.
  virtual absl::StatusOr<std::vector<HeldLease>> Leases() = 0;

  // Adds the device, or changes it. `drained` and `shared_with` count for a new one alone, so that a device
  // that joins again does not undo what its operator and its owner have decided.
  virtual absl::Status PutDevice(const FleetDevice& device) = 0;
  // With whom it is shared. NotFound if it is unknown.
  virtual absl::Status SetShared(const std::string& device, const std::set<std::string>& owners) = 0;
  // Without a reason, the device is given out again. NotFound if it is unknown.
  virtual absl::Status SetDrained(const std::string& device, const std::optional<std::string>& reason) = 0;
  // Forgets the device, if it is known, its lease and its calibrations.
  virtual absl::Status RemoveDevice(const std::string& device) = 0;
  // In the order of their ids.
  virtual absl::StatusOr<std::vector<FleetDevice>> Devices() = 0;

  // The owners that an owner trusts for devices besides itself, at most kMaxOwners (device_owners.h).
  virtual absl::Status SetTrust(const std::string& owner, const std::set<std::string>& trusted) = 0;
  // Returns whom each owner trusts; owners who never said so are left out.
  virtual absl::StatusOr<std::map<std::string, std::set<std::string>>> Trusts() = 0;

  // Keeps the device's latest calibration, and forgets those between the first and the latest ones.
  virtual absl::Status AddCalibration(const std::string& device, const Calibration& calibration) = 0;
  // The device begins anew.
  virtual absl::Status ForgetCalibrations(const std::string& device) = 0;
  // The device's, in the order in which they were added.
  virtual absl::StatusOr<std::vector<Calibration>> Calibrations(const std::string& device) = 0;

  // Whether a change would be taken now, or within half a second. Does not notice that the disk is full.
  virtual absl::Status CheckWritable() = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_STORE_FLEET_STORE_H_
