// The fleet's store in a database.
#ifndef ATTUNE_FLEET_STORE_SQL_FLEET_STORE_H_
#define ATTUNE_FLEET_STORE_SQL_FLEET_STORE_H_

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
#include "fleet/identity/authority_files.h"
#include "fleet/store/fleet_store.h"

namespace attune {

const SqlSchema& FleetSchema();

// Several processes may use the same database, so that an operator can list and revoke beside the server.
class SqlFleetStore final : public FleetStore, public FleetSecrets {
 public:
  // As SqlLocation::Open(), and as OpenSqlite().
  static absl::StatusOr<std::unique_ptr<SqlFleetStore>> Open(const SqlLocation& location);
  static absl::StatusOr<std::unique_ptr<SqlFleetStore>> Open(const std::string& path);

  absl::Status AddCertificate(const CertificateFacts& facts) override;
  absl::Status SetShown(const std::string& serial) override;
  absl::Status RevokeCertificate(const std::string& serial, const Revocation& revocation) override;
  absl::Status RevokeIdentity(const std::string& id, const Revocation& revocation) override;
  absl::StatusOr<int64_t> RevokeOwner(const std::string& owner, const Revocation& revocation) override;
  absl::Status ForgetCertificates(int64_t ended_ms) override;
  absl::StatusOr<std::optional<IssuedCertificate>> FindCertificate(const std::string& serial) override;
  absl::StatusOr<std::set<std::string>> RevokedAmong(const std::set<std::string>& serials) override;
  absl::StatusOr<int64_t> NumRevoked(int64_t now_ms) override;
  absl::StatusOr<std::vector<IssuedCertificate>> ValidCertificates(int64_t now_ms) override;

  absl::Status AddInvitation(const PendingInvitation& invitation) override;
  absl::StatusOr<std::optional<PendingInvitation>> TakeInvitation(const std::string& secret,
                                                                  int64_t now_ms) override;

  absl::StatusOr<int64_t> NextEpoch() override;

  absl::Status PutLease(const HeldLease& lease) override;
  absl::Status EndLease(const LeaseToken& token) override;
  absl::StatusOr<std::vector<HeldLease>> Leases() override;

  absl::Status PutDevice(const FleetDevice& device) override;
  absl::Status SetDrained(const std::string& device, const std::optional<std::string>& reason) override;
  absl::Status SetShared(const std::string& device, const std::set<std::string>& owners) override;
  absl::Status RemoveDevice(const std::string& device) override;
  absl::StatusOr<std::vector<FleetDevice>> Devices() override;

  absl::Status SetTrust(const std::string& owner, const std::set<std::string>& trusted) override;
  absl::StatusOr<std::map<std::string, std::set<std::string>>> Trusts() override;

  absl::Status AddCalibration(const std::string& device, const Calibration& calibration) override;
  absl::Status ForgetCalibrations(const std::string& device) override;
  absl::StatusOr<std::vector<Calibration>> Calibrations(const std::string& device) override;

  absl::Status CheckWritable() override;

  absl::StatusOr<std::optional<std::string>> LoadAuthorities() override;
  absl::Status SaveAuthorities(const std::string& text) override;
  absl::StatusOr<std::string> LoadRestoredTimes() override;
  // As a part of the session's transaction.
  static absl::StatusOr<std::string> ReadRestoredTimes(SqlSession& session);
  static absl::Status WriteRestoredTimes(SqlSession& session, const std::string& text);

 private:
  explicit SqlFleetStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  // The error where none has this value in `column`.
  absl::Status NoCertificate(std::string_view column, const std::string& value) const;
  // Revokes the certificates whose `column` has this value.
  absl::Status Revoke(std::string_view column, const std::string& value, const Revocation& revocation);
  absl::Status ChangeDevice(const std::string& device, std::string_view column, const std::string& value);
  // The status with the database's name; ok stays ok.
  absl::Status Named(const absl::Status& status) const;

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_STORE_SQL_FLEET_STORE_H_
