#include "fleet/store/sqlite_fleet_store.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/sqlite/sqlite_rows.h"
#include "base/sqlite/sqlite_schema.h"
#include "base/status.h"

namespace attune {
namespace {

// An empty reason stands for none. Keys are one a line.
constexpr const char* kTables[] = {
    "CREATE TABLE certificates (serial TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, owner TEXT NOT NULL, "
    "id TEXT NOT NULL, begin_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, revoked_ms INTEGER NOT NULL, "
    "reason TEXT NOT NULL, authority TEXT NOT NULL DEFAULT '', is_shown INTEGER NOT NULL DEFAULT 1) STRICT",
    "CREATE INDEX certificates_by_id ON certificates (id)",
    "CREATE TABLE invitations (digest TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, owner TEXT NOT NULL, "
    "end_ms INTEGER NOT NULL) STRICT",
    "CREATE TABLE epochs (id INTEGER PRIMARY KEY, latest INTEGER NOT NULL) STRICT",
    "CREATE TABLE leases (device TEXT NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL, number INTEGER NOT NULL, "
    "owner TEXT NOT NULL, key TEXT NOT NULL) STRICT",
    "CREATE TABLE devices (id TEXT NOT NULL PRIMARY KEY, agent TEXT NOT NULL, owner TEXT NOT NULL, keys TEXT "
    "NOT NULL, info BLOB NOT NULL, drained TEXT NOT NULL, last_seen_ms INTEGER NOT NULL) STRICT",
    "CREATE TABLE calibrations (number INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, time_ms "
    "INTEGER "
    "NOT NULL, gflops REAL NOT NULL, bf16_gflops REAL NOT NULL, int8_gops REAL NOT NULL, l2_gb_per_s REAL "
    "NOT "
    "NULL, l3_gb_per_s REAL NOT NULL, memory_gb_per_s REAL NOT NULL) STRICT",
    "CREATE INDEX calibrations_by_device ON calibrations (device, number)",
};
constexpr SqliteUpgrade kUpgrades[] = {
    {.from = 1, .statement = "ALTER TABLE certificates ADD COLUMN authority TEXT NOT NULL DEFAULT ''"},
    {.from = 2, .statement = "ALTER TABLE certificates ADD COLUMN is_shown INTEGER NOT NULL DEFAULT 1"},
};
constexpr SqliteSchema kSchema = {.application_id = 0x4174466C,  // "AtFl"
                                  .version = 3,
                                  .statements = kTables,
                                  .upgrades = kUpgrades,
                                  .words = {.what = "fleet database", .flag = "--state"}};
constexpr char kKeySeparator = '\n';

// The value, if a store may keep it.
template <typename Row>
absl::StatusOr<Row> IfStorable(Row row) {
  RETURN_IF_ERROR(CheckStorable(row));
  return row;
}

constexpr std::string_view kSelectIssued =
    "SELECT serial, role, owner, id, begin_ms, end_ms, revoked_ms, reason, authority, is_shown FROM "
    "certificates ";

absl::StatusOr<IssuedCertificate> ReadIssued(const SqliteStatement& row) {
  IssuedCertificate certificate;
  CertificateFacts& facts = certificate.facts;
  facts.serial = row.Text(0);
  ASSIGN_OR_RETURN(facts.who.role, FleetRoleNamed(row.Text(1)));
  facts.who.owner = row.Text(2);
  facts.who.id = row.Text(3);
  facts.begin_ms = row.Integer(4);
  facts.end_ms = row.Integer(5);
  facts.authority = row.Text(8);
  certificate.is_shown = row.Integer(9) != 0;
  RETURN_IF_ERROR(CheckStorable(facts));
  if (const std::string reason = row.Text(7); !reason.empty()) {
    ASSIGN_OR_RETURN(certificate.revocation,
                     IfStorable(Revocation{.reason = reason, .time_ms = row.Integer(6)}));
  }
  return certificate;
}

absl::StatusOr<PendingInvitation> ReadInvitation(const SqliteStatement& row) {
  ASSIGN_OR_RETURN(const FleetRole role, FleetRoleNamed(row.Text(1)));
  return IfStorable(
      PendingInvitation{.digest = row.Text(0), .role = role, .owner = row.Text(2), .end_ms = row.Integer(3)});
}

absl::StatusOr<HeldLease> ReadLease(const SqliteStatement& row) {
  return IfStorable(HeldLease{.token = {.epoch = row.Integer(0), .number = row.Integer(1)},
                              .device = row.Text(2),
                              .owner = row.Text(3),
                              .key = row.Text(4)});
}

absl::StatusOr<FleetDevice> ReadDevice(const SqliteStatement& row) {
  FleetDevice device = {.id = row.Text(0),
                        .agent = row.Text(1),
                        .owner = row.Text(2),
                        .keys = absl::StrSplit(row.Text(3), kKeySeparator, absl::SkipEmpty()),
                        .info = row.Bytes(4),
                        .last_seen_ms = row.Integer(6)};
  if (std::string reason = row.Text(5); !reason.empty()) device.drained = std::move(reason);
  return IfStorable(std::move(device));
}

absl::StatusOr<Calibration> ReadCalibration(const SqliteStatement& row) {
  return IfStorable(Calibration{.time_ms = row.Integer(0),
                                .peaks = {.gflops_per_core = row.Real(1),
                                          .bf16_gflops_per_core = row.Real(2),
                                          .int8_gops_per_core = row.Real(3),
                                          .l2_gb_per_s = row.Real(4),
                                          .l3_gb_per_s = row.Real(5),
                                          .memory_gb_per_s = row.Real(6)}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteFleetStore>> SqliteFleetStore::Open(const std::string& path) {
  RETURN_IF_ERROR(MakeFoldersOf(path, kSchema));
  ASSIGN_OR_RETURN(auto connection, SqliteConnection::Open(path, {}, kSchema.words));
  RETURN_IF_ERROR(PrepareDatabase(*connection, kSchema, DatabaseAccess::kCreate));
  // A power cut must not undo anything: an epoch would come twice, and a revoked certificate be good again.
  RETURN_IF_ERROR(connection->Execute("PRAGMA synchronous = FULL"));
  return std::unique_ptr<SqliteFleetStore>(new SqliteFleetStore(std::move(connection)));
}

absl::Status SqliteFleetStore::Named(const absl::Status& status) const {
  return Annotate(status, connection_->path());
}

absl::Status SqliteFleetStore::AddCertificate(const CertificateFacts& facts) {
  RETURN_IF_ERROR(Named(CheckStorable(facts)));
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      const int64_t added,
      ChangeRows(*connection_,
                 "INSERT INTO certificates VALUES (?, ?, ?, ?, ?, ?, 0, '', ?, 0) ON CONFLICT DO NOTHING",
                 facts.serial, Name(facts.who.role), facts.who.owner, facts.who.id, facts.begin_ms,
                 facts.end_ms, facts.authority));
  if (added > 0) return absl::OkStatus();
  return Named(absl::AlreadyExistsError(absl::StrCat("has a certificate ", facts.serial, " already")));
}

absl::Status SqliteFleetStore::SetShown(const std::string& serial) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const int64_t found,
                   ChangeRows(*connection_, "UPDATE certificates SET is_shown = 1 WHERE serial = ?", serial));
  return found > 0 ? absl::OkStatus() : NoCertificate("serial", serial);
}

absl::Status SqliteFleetStore::NoCertificate(std::string_view column, const std::string& value) const {
  return Named(absl::NotFoundError(
      absl::StrCat("has no certificate with the ", column, " \"", Printable(value), "\"")));
}

absl::Status SqliteFleetStore::Revoke(std::string_view column, const std::string& value,
                                      const Revocation& revocation) {
  RETURN_IF_ERROR(Named(CheckStorable(revocation)));
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      const int64_t found,
      ChangeRows(*connection_,
                 absl::StrCat("UPDATE certificates SET revoked_ms = iif(reason = '', ?, revoked_ms), "
                              "reason = iif(reason = '', ?, reason) WHERE ",
                              column, " = ?"),
                 revocation.time_ms, revocation.reason, value));
  return found > 0 ? absl::OkStatus() : NoCertificate(column, value);
}

absl::Status SqliteFleetStore::RevokeCertificate(const std::string& serial, const Revocation& revocation) {
  return Revoke("serial", serial, revocation);
}

absl::Status SqliteFleetStore::RevokeIdentity(const std::string& id, const Revocation& revocation) {
  return Revoke("id", id, revocation);
}

absl::StatusOr<std::set<std::string>> SqliteFleetStore::RevokedSerials(int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const std::vector<IssuedCertificate> revoked,
                   ReadRows(*connection_, ReadIssued,
                            absl::StrCat(kSelectIssued, "WHERE reason != '' AND end_ms > ?"), now_ms));
  std::set<std::string> serials;
  for (const IssuedCertificate& certificate : revoked) serials.insert(certificate.facts.serial);
  return serials;
}

absl::StatusOr<std::vector<IssuedCertificate>> SqliteFleetStore::Certificates() {
  const std::lock_guard lock(mutex_);
  return ReadRows(*connection_, ReadIssued, absl::StrCat(kSelectIssued, "ORDER BY begin_ms, serial"));
}

absl::Status SqliteFleetStore::AddInvitation(const PendingInvitation& invitation) {
  RETURN_IF_ERROR(Named(CheckStorable(invitation)));
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      const int64_t added,
      ChangeRows(*connection_, "INSERT INTO invitations VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                 invitation.digest, Name(invitation.role), invitation.owner, invitation.end_ms));
  if (added > 0) return absl::OkStatus();
  return Named(absl::AlreadyExistsError(absl::StrCat("has an invitation ", invitation.digest, " already")));
}

absl::StatusOr<std::optional<PendingInvitation>> SqliteFleetStore::TakeInvitation(const std::string& secret,
                                                                                  int64_t now_ms) {
  const std::string digest = Sha256Hex(secret);
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  RETURN_IF_ERROR(ChangeRows(*connection_, "DELETE FROM invitations WHERE end_ms <= ?", now_ms).status());
  ASSIGN_OR_RETURN(std::vector<PendingInvitation> found,
                   ReadRows(*connection_, ReadInvitation,
                            "SELECT digest, role, owner, end_ms FROM invitations WHERE digest = ?", digest));
  RETURN_IF_ERROR(ChangeRows(*connection_, "DELETE FROM invitations WHERE digest = ?", digest).status());
  RETURN_IF_ERROR(transaction.Commit());
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

absl::StatusOr<int64_t> SqliteFleetStore::NextEpoch() {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  RETURN_IF_ERROR(connection_->Execute(
      "INSERT INTO epochs VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET latest = latest + 1"));
  ASSIGN_OR_RETURN(const int64_t epoch, connection_->Integer("SELECT latest FROM epochs WHERE id = 1"));
  if (epoch < 1) return Named(absl::DataLossError("holds an epoch that it cannot have got from attune"));
  RETURN_IF_ERROR(transaction.Commit());
  return epoch;
}

absl::Status SqliteFleetStore::PutLease(const HeldLease& lease) {
  RETURN_IF_ERROR(Named(CheckStorable(lease)));
  const std::lock_guard lock(mutex_);
  return ChangeRows(*connection_, "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)", lease.device,
                    lease.token.epoch, lease.token.number, lease.owner, lease.key)
      .status();
}

absl::Status SqliteFleetStore::EndLease(const LeaseToken& token) {
  const std::lock_guard lock(mutex_);
  return ChangeRows(*connection_, "DELETE FROM leases WHERE epoch = ? AND number = ?", token.epoch,
                    token.number)
      .status();
}

absl::StatusOr<std::vector<HeldLease>> SqliteFleetStore::Leases() {
  const std::lock_guard lock(mutex_);
  return ReadRows(*connection_, ReadLease,
                  "SELECT epoch, number, device, owner, key FROM leases ORDER BY epoch, number");
}

absl::Status SqliteFleetStore::PutDevice(const FleetDevice& device) {
  RETURN_IF_ERROR(Named(CheckStorable(device)));
  const std::lock_guard lock(mutex_);
  return ChangeRows(*connection_,
                    "INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET agent = "
                    "excluded.agent, owner = excluded.owner, keys = excluded.keys, info = excluded.info, "
                    "last_seen_ms = excluded.last_seen_ms",
                    device.id, device.agent, device.owner,
                    absl::StrJoin(device.keys, std::string_view(&kKeySeparator, 1)),
                    SqliteBlob{.bytes = device.info}, device.drained.value_or(""), device.last_seen_ms)
      .status();
}

absl::Status SqliteFleetStore::SetDrained(const std::string& device,
                                          const std::optional<std::string>& reason) {
  if (reason) RETURN_IF_ERROR(Named(CheckReason(*reason)));
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      const int64_t found,
      ChangeRows(*connection_, "UPDATE devices SET drained = ? WHERE id = ?", reason.value_or(""), device));
  if (found > 0) return absl::OkStatus();
  return Named(absl::NotFoundError(absl::StrCat("has no device \"", Printable(device), "\"")));
}

absl::Status SqliteFleetStore::RemoveDevice(const std::string& device) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  RETURN_IF_ERROR(ChangeRows(*connection_, "DELETE FROM leases WHERE device = ?", device).status());
  RETURN_IF_ERROR(ChangeRows(*connection_, "DELETE FROM devices WHERE id = ?", device).status());
  RETURN_IF_ERROR(ChangeRows(*connection_, "DELETE FROM calibrations WHERE device = ?", device).status());
  return transaction.Commit();
}

absl::StatusOr<std::vector<FleetDevice>> SqliteFleetStore::Devices() {
  const std::lock_guard lock(mutex_);
  return ReadRows(*connection_, ReadDevice,
                  "SELECT id, agent, owner, keys, info, drained, last_seen_ms FROM devices ORDER BY id");
}

absl::Status SqliteFleetStore::AddCalibration(const std::string& device, const Calibration& calibration) {
  RETURN_IF_ERROR(Named(CheckStorable(calibration)));
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  const Peaks& peaks = calibration.peaks;
  RETURN_IF_ERROR(ChangeRows(*connection_, "INSERT INTO calibrations VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
                             device, calibration.time_ms, peaks.gflops_per_core, peaks.bf16_gflops_per_core,
                             peaks.int8_gops_per_core, peaks.l2_gb_per_s, peaks.l3_gb_per_s,
                             peaks.memory_gb_per_s)
                      .status());
  constexpr std::string_view kNumbers = "SELECT number FROM calibrations WHERE device = ? ORDER BY number ";
  RETURN_IF_ERROR(
      ChangeRows(*connection_,
                 absl::StrCat("DELETE FROM calibrations WHERE device = ? AND number NOT IN (", kNumbers,
                              "LIMIT ?) AND number NOT IN (", kNumbers, "DESC LIMIT ?)"),
                 device, device, kFirstCalibrationsKept, device, kLatestCalibrationsKept)
          .status());
  return transaction.Commit();
}

absl::Status SqliteFleetStore::ForgetCalibrations(const std::string& device) {
  const std::lock_guard lock(mutex_);
  return ChangeRows(*connection_, "DELETE FROM calibrations WHERE device = ?", device).status();
}

absl::StatusOr<std::vector<Calibration>> SqliteFleetStore::Calibrations(const std::string& device) {
  const std::lock_guard lock(mutex_);
  return ReadRows(
      *connection_, ReadCalibration,
      "SELECT time_ms, gflops, bf16_gflops, int8_gops, l2_gb_per_s, l3_gb_per_s, memory_gb_per_s FROM "
      "calibrations WHERE device = ? ORDER BY number",
      device);
}

absl::Status SqliteFleetStore::CheckWritable() {
  // On a connection of its own, since this one waits for another process's lock as long as it takes.
  constexpr std::chrono::milliseconds kPatience(500);
  ASSIGN_OR_RETURN(const auto connection,
                   SqliteConnection::Open(connection_->path(), {.patience = kPatience}, kSchema.words));
  return SqliteTransaction::Begin(*connection, SqliteTransaction::Kind::kWrite).status();
}

}  // namespace attune
