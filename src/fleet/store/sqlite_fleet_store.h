// The fleet's store in one SQLite file.
#ifndef ATTUNE_FLEET_STORE_SQLITE_FLEET_STORE_H_
#define ATTUNE_FLEET_STORE_SQLITE_FLEET_STORE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sqlite/sqlite.h"
#include "fleet/store/fleet_store.h"

namespace attune {

// Several processes may use the same file, so that an operator can list and revoke beside the server.
class SqliteFleetStore final : public FleetStore {
 public:
  // Creates the file and its folder if they are missing. Fails with one sentence if the file is damaged,
  // belongs to another program, or was written by a newer version.
  static absl::StatusOr<std::unique_ptr<SqliteFleetStore>> Open(const std::string& path);

  absl::Status AddCertificate(const CertificateFacts& facts) override;
  absl::Status SetShown(const std::string& serial) override;
  absl::Status RevokeCertificate(const std::string& serial, const Revocation& revocation) override;
  absl::Status RevokeIdentity(const std::string& id, const Revocation& revocation) override;
  absl::StatusOr<std::set<std::string>> RevokedSerials(int64_t now_ms) override;
  absl::StatusOr<std::vector<IssuedCertificate>> Certificates() override;

  absl::Status AddInvitation(const PendingInvitation& invitation) override;
  absl::StatusOr<std::optional<PendingInvitation>> TakeInvitation(const std::string& secret,
                                                                  int64_t now_ms) override;

  absl::StatusOr<int64_t> NextEpoch() override;

  absl::Status PutLease(const HeldLease& lease) override;
  absl::Status EndLease(const LeaseToken& token) override;
  absl::StatusOr<std::vector<HeldLease>> Leases() override;

  absl::Status PutDevice(const FleetDevice& device) override;
  absl::Status SetDrained(const std::string& device, const std::optional<std::string>& reason) override;
  absl::Status RemoveDevice(const std::string& device) override;
  absl::StatusOr<std::vector<FleetDevice>> Devices() override;

  absl::Status AddCalibration(const std::string& device, const Calibration& calibration) override;
  absl::Status ForgetCalibrations(const std::string& device) override;
  absl::StatusOr<std::vector<Calibration>> Calibrations(const std::string& device) override;

  absl::Status CheckWritable() override;

 private:
  explicit SqliteFleetStore(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}

  // The error where none has this value in `column`.
  absl::Status NoCertificate(std::string_view column, const std::string& value) const;
  // Revokes the certificates whose `column` has this value.
  absl::Status Revoke(std::string_view column, const std::string& value, const Revocation& revocation);
  // The status with the file's name; ok stays ok.
  absl::Status Named(const absl::Status& status) const;

  std::mutex mutex_;  // of the connection
  const std::unique_ptr<SqliteConnection> connection_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_STORE_SQLITE_FLEET_STORE_H_
