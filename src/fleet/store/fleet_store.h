// The memory of the fleet's server across restarts: admitted members, invitations, and leases.
#ifndef ATTUNE_FLEET_STORE_FLEET_STORE_H_
#define ATTUNE_FLEET_STORE_FLEET_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "device/peaks.h"
#include "fleet/identity/authority_files.h"
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

const SqlSchema& FleetSchema();

// A call has taken effect when it returns: neither the end of the process nor a power cut undoes it. A call
// that fails has no effect. All errors name the database: InvalidArgument for what CheckStorable() refuses,
// DataLoss if the database holds what no store has written, and what the database itself reports. Thread
// safe.
class FleetStore final : public FleetSecrets {
 public:
  // As SqlLocation::Open(), and as OpenSqlite().
  static absl::StatusOr<std::unique_ptr<FleetStore>> Open(const SqlLocation& location);
  static absl::StatusOr<std::unique_ptr<FleetStore>> Open(const std::string& path);

  // Keeps a certificate that the authority has issued. AlreadyExists if the serial is known. The authority is
  // empty where it was not stored, as for certificates of earlier versions of Attune.
  absl::Status AddCertificate(const CertificateFacts& facts);
  // Its holder has shown the certificate with this serial. NotFound if there is none.
  absl::Status SetShown(const std::string& serial);
  // Revokes all certificates of the identity. One that is revoked already keeps its first revocation.
  // NotFound if there is none.
  absl::Status RevokeIdentity(const std::string& id, const Revocation& revocation);
  // Revokes all certificates of the owner that are not revoked already, and forgets the owner's invitations.
  // Returns how many there were of both.
  absl::StatusOr<int64_t> RevokeOwner(const std::string& owner, const Revocation& revocation);
  // Forgets certificates that have ended at this time or before, revoked or not.
  absl::Status ForgetCertificates(int64_t ended_ms);

  // Returns the certificate with this serial; nothing if none is known.
  absl::StatusOr<std::optional<IssuedCertificate>> FindCertificate(const std::string& serial);
  // Returns those of the serials that are revoked.
  absl::StatusOr<std::set<std::string>> RevokedAmong(const std::set<std::string>& serials);
  // Returns how many certificates would be valid if they were not revoked: their end is after `now_ms`.
  absl::StatusOr<int64_t> NumRevoked(int64_t now_ms);
  // Returns those that are not revoked and end after `now_ms`, by their start.
  absl::StatusOr<std::vector<IssuedCertificate>> ValidCertificates(int64_t now_ms);

  // AlreadyExists if the digest is known.
  absl::Status AddInvitation(const PendingInvitation& invitation);
  // Removes the invitation with this secret and returns it; of any number of calls, one gets it. Nothing if
  // it is unknown, was taken, or has ended. Forgets all that have ended.
  absl::StatusOr<std::optional<PendingInvitation>> TakeInvitation(const std::string& secret, int64_t now_ms);

  // A number that is larger than all that it has returned before, for FleetLeases; the first is 1.
  absl::StatusOr<int64_t> NextEpoch();

  // Keeps the device's lease, in place of the one that it had.
  absl::Status PutLease(const HeldLease& lease);
  // Forgets the lease, if it is known.
  absl::Status EndLease(const LeaseToken& token);
  // In the order of their tokens.
  absl::StatusOr<std::vector<HeldLease>> Leases();

  // Adds the device, or changes it. `drained` and `shared_with` count for a new one alone, so that a device
  // that joins again does not undo what its operator and its owner have decided.
  absl::Status PutDevice(const FleetDevice& device);
  // With whom it is shared. NotFound if it is unknown.
  absl::Status SetShared(const std::string& device, const std::set<std::string>& owners);
  // Without a reason, the device is given out again. NotFound if it is unknown.
  absl::Status SetDrained(const std::string& device, const std::optional<std::string>& reason);
  // Forgets the device, if it is known, its lease and its calibrations.
  absl::Status RemoveDevice(const std::string& device);
  // In the order of their ids.
  absl::StatusOr<std::vector<FleetDevice>> Devices();

  // The owners that an owner trusts for devices besides itself, at most kMaxOwners (device_owners.h).
  absl::Status SetTrust(const std::string& owner, const std::set<std::string>& trusted);
  // Returns whom each owner trusts; owners who never said so are left out.
  absl::StatusOr<std::map<std::string, std::set<std::string>>> Trusts();

  // Keeps the device's latest calibration, and forgets those between the first and the latest ones.
  absl::Status AddCalibration(const std::string& device, const Calibration& calibration);
  // The device begins anew.
  absl::Status ForgetCalibrations(const std::string& device);
  // The device's, in the order in which they were added.
  absl::StatusOr<std::vector<Calibration>> Calibrations(const std::string& device);

  // Whether a change would be taken now, or within half a second. Does not notice that the disk is full.
  absl::Status CheckWritable();

  absl::StatusOr<std::optional<std::string>> LoadAuthorities() override;
  absl::Status SaveAuthorities(const std::string& text) override;
  absl::StatusOr<std::string> LoadRestoredTimes() override;
  // As a part of the session's transaction.
  static absl::StatusOr<std::string> ReadRestoredTimes(SqlSession& session);
  static absl::Status WriteRestoredTimes(SqlSession& session, const std::string& text);

 private:
  explicit FleetStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  // The error where none has this value in `column`.
  absl::Status NoCertificate(std::string_view column, const std::string& value) const;
  absl::Status ChangeDevice(const std::string& device, std::string_view column, const std::string& value);
  // The status with the database's name; ok stays ok.
  absl::Status Named(const absl::Status& status) const;

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_STORE_FLEET_STORE_H_
