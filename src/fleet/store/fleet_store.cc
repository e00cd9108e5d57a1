#include "fleet/store/fleet_store.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

// An empty reason stands for none. Keys and owners are one a line.
constexpr const char* kUp1[] = {
    "CREATE TABLE certificates (serial TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, owner TEXT NOT NULL, "
    "id TEXT NOT NULL, begin_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, revoked_ms INTEGER NOT NULL, "
    "reason TEXT NOT NULL) STRICT",
    "CREATE INDEX certificates_by_id ON certificates (id)",
    "CREATE TABLE invitations (digest TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, owner TEXT NOT NULL, "
    "end_ms INTEGER NOT NULL) STRICT",
    "CREATE TABLE epochs (id INTEGER PRIMARY KEY, latest INTEGER NOT NULL) STRICT",
    "CREATE TABLE leases (device TEXT NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL, number INTEGER NOT NULL, "
    "owner TEXT NOT NULL, key TEXT NOT NULL) STRICT",
    "CREATE TABLE devices (id TEXT NOT NULL PRIMARY KEY, agent TEXT NOT NULL, owner TEXT NOT NULL, keys TEXT "
    "NOT NULL, info BLOB NOT NULL, drained TEXT NOT NULL, last_seen_ms INTEGER NOT NULL) STRICT",
    "CREATE TABLE calibrations (number INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, time_ms "
    "INTEGER NOT NULL, gflops REAL NOT NULL, bf16_gflops REAL NOT NULL, int8_gops REAL NOT NULL, l2_gb_per_s "
    "REAL NOT NULL, l3_gb_per_s REAL NOT NULL, memory_gb_per_s REAL NOT NULL) STRICT",
    "CREATE INDEX calibrations_by_device ON calibrations (device, number)",
};
constexpr const char* kDown1[] = {"DROP TABLE certificates", "DROP TABLE invitations",
                                  "DROP TABLE epochs",       "DROP TABLE leases",
                                  "DROP TABLE devices",      "DROP TABLE calibrations"};
constexpr const char* kUp2[] = {"ALTER TABLE certificates ADD COLUMN authority TEXT NOT NULL DEFAULT ''"};
constexpr const char* kDown2[] = {"ALTER TABLE certificates DROP COLUMN authority"};
constexpr const char* kUp3[] = {"ALTER TABLE certificates ADD COLUMN is_shown INTEGER NOT NULL DEFAULT 1"};
constexpr const char* kDown3[] = {"ALTER TABLE certificates DROP COLUMN is_shown"};
constexpr const char* kUp4[] = {
    "CREATE TABLE fleet_secrets (name TEXT NOT NULL PRIMARY KEY, content TEXT NOT NULL) STRICT"};
constexpr const char* kDown4[] = {"DROP TABLE fleet_secrets"};
// Devices could be used by all before they had owners' consent. The server's own stay shared; owners of
// others say what they share.
constexpr const char* kUp5[] = {
    "ALTER TABLE devices ADD COLUMN shared_with TEXT NOT NULL DEFAULT ''",
    "UPDATE devices SET shared_with = '*' WHERE owner = 'server'",
    "CREATE TABLE trusts (owner TEXT NOT NULL PRIMARY KEY, trusted TEXT NOT NULL) STRICT"};
constexpr const char* kDown5[] = {"ALTER TABLE devices DROP COLUMN shared_with", "DROP TABLE trusts"};
// Each job that measures leaves some that are revoked, so that those that count are few among all.
constexpr const char* kUp6[] = {
    "CREATE INDEX certificates_that_count ON certificates (end_ms) WHERE reason = ''",
    "CREATE INDEX certificates_by_end ON certificates (end_ms)",
    "CREATE INDEX certificates_by_owner ON certificates (owner)"};
constexpr const char* kDown6[] = {"DROP INDEX certificates_that_count", "DROP INDEX certificates_by_end",
                                  "DROP INDEX certificates_by_owner"};
constexpr SqlMigration kMigrations[] = {{.up = kUp1, .down = kDown1}, {.up = kUp2, .down = kDown2},
                                        {.up = kUp3, .down = kDown3}, {.up = kUp4, .down = kDown4},
                                        {.up = kUp5, .down = kDown5}, {.up = kUp6, .down = kDown6}};
constexpr char kSeparator = '\n';

std::string JoinLines(const std::set<std::string>& lines) {
  return absl::StrJoin(lines, std::string_view(&kSeparator, 1));
}

std::set<std::string> SplitLines(const std::string& text) {
  return absl::StrSplit(text, kSeparator, absl::SkipEmpty());
}

// The value, if a store may keep it.
template <typename Row>
absl::StatusOr<Row> IfStorable(Row row) {
  RETURN_IF_ERROR(CheckStorable(row));
  return row;
}

// Names of rows of fleet_secrets.
constexpr std::string_view kAuthorities = "authorities", kRestoredTimes = "restored";

absl::StatusOr<std::optional<std::string>> ReadSecret(SqlSession& session, std::string_view name) {
  return ReadRow(session, ReadText, "SELECT content FROM fleet_secrets WHERE name = ?", name);
}

absl::Status WriteSecret(SqlSession& session, std::string_view name, const std::string& text) {
  return Execute(
      session,
      "INSERT INTO fleet_secrets VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET content = excluded.content",
      name, text);
}

absl::StatusOr<PendingInvitation> ReadInvitation(const SqlRow& row) {
  ASSIGN_OR_RETURN(const FleetRole role, FleetRoleNamed(row.Text(1)));
  return IfStorable(
      PendingInvitation{.digest = row.Text(0), .role = role, .owner = row.Text(2), .end_ms = row.Integer(3)});
}

absl::StatusOr<HeldLease> ReadLease(const SqlRow& row) {
  return IfStorable(HeldLease{.token = {.epoch = row.Integer(0), .number = row.Integer(1)},
                              .device = row.Text(2),
                              .owner = row.Text(3),
                              .key = row.Text(4)});
}

absl::StatusOr<FleetDevice> ReadDevice(const SqlRow& row) {
  FleetDevice device = {.id = row.Text(0),
                        .agent = row.Text(1),
                        .owner = row.Text(2),
                        .keys = SplitLines(row.Text(3)),
                        .shared_with = SplitLines(row.Text(7)),
                        .info = row.Bytes(4),
                        .last_seen_ms = row.Integer(6)};
  if (std::string reason = row.Text(5); !reason.empty()) device.drained = std::move(reason);
  return IfStorable(std::move(device));
}

using Trust = std::pair<std::string, std::set<std::string>>;
absl::StatusOr<Trust> ReadTrust(const SqlRow& row) {
  Trust trust = {row.Text(0), SplitLines(row.Text(1))};
  RETURN_IF_ERROR(CheckOwners(trust.second));
  return trust;
}

absl::StatusOr<Calibration> ReadCalibration(const SqlRow& row) {
  return IfStorable(Calibration{.time_ms = row.Integer(0),
                                .peaks = {.gflops_per_core = row.Real(1),
                                          .bf16_gflops_per_core = row.Real(2),
                                          .int8_gops_per_core = row.Real(3),
                                          .l2_gb_per_s = row.Real(4),
                                          .l3_gb_per_s = row.Real(5),
                                          .memory_gb_per_s = row.Real(6)}});
}

}  // namespace

const SqlSchema& FleetSchema() {
  // A power cut must not undo anything: an epoch would come twice, and a revoked certificate be good again.
  static constexpr SqlSchema kSchema = {.store = "fleet",
                                        .file = "fleet.db",
                                        .application_id = 0x4174466C,  // "AtFl"
                                        .migrations = kMigrations,
                                        .words = {.what = "fleet database", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<FleetStore>> FleetStore::Open(const SqlLocation& location) {
  ASSIGN_OR_RETURN(auto database, location.Open(FleetSchema()));
  return std::unique_ptr<FleetStore>(new FleetStore(std::move(database)));
}

absl::StatusOr<std::unique_ptr<FleetStore>> FleetStore::Open(const std::string& path) {
  ASSIGN_OR_RETURN(auto database, OpenSqlite(path, FleetSchema()));
  return std::unique_ptr<FleetStore>(new FleetStore(std::move(database)));
}

absl::Status FleetStore::Named(const absl::Status& status) const {
  return Annotate(status, database_->name());
}

absl::Status FleetStore::AddInvitation(const PendingInvitation& invitation) {
  RETURN_IF_ERROR(Named(CheckStorable(invitation)));
  ASSIGN_OR_RETURN(
      const int64_t added,
      ChangeRows(*database_, "INSERT INTO invitations VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                 invitation.digest, Name(invitation.role), invitation.owner, invitation.end_ms));
  if (added > 0) return absl::OkStatus();
  return Named(absl::AlreadyExistsError(absl::StrCat("has an invitation ", invitation.digest, " already")));
}

absl::StatusOr<std::optional<PendingInvitation>> FleetStore::TakeInvitation(const std::string& secret,
                                                                            int64_t now_ms) {
  const std::string digest = Sha256Hex(secret);
  using Found = std::optional<PendingInvitation>;
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<Found> {
    RETURN_IF_ERROR(Execute(session, "DELETE FROM invitations WHERE end_ms <= ?", now_ms));
    ASSIGN_OR_RETURN(Found found,
                     ReadRow(session, ReadInvitation,
                             "SELECT digest, role, owner, end_ms FROM invitations WHERE digest = ?", digest));
    RETURN_IF_ERROR(Execute(session, "DELETE FROM invitations WHERE digest = ?", digest));
    return found;
  });
}

absl::StatusOr<int64_t> FleetStore::NextEpoch() {
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<int64_t> {
    RETURN_IF_ERROR(Execute(
        session,
        "INSERT INTO epochs VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET latest = epochs.latest + 1"));
    ASSIGN_OR_RETURN(const int64_t epoch, ReadInteger(session, "SELECT latest FROM epochs WHERE id = 1"));
    if (epoch < 1) return Named(absl::DataLossError("holds an epoch that it cannot have got from attune"));
    return epoch;
  });
}

absl::Status FleetStore::PutLease(const HeldLease& lease) {
  RETURN_IF_ERROR(Named(CheckStorable(lease)));
  return Execute(*database_,
                 "INSERT INTO leases VALUES (?, ?, ?, ?, ?) ON CONFLICT (device) DO UPDATE SET epoch = "
                 "excluded.epoch, number = excluded.number, owner = excluded.owner, key = excluded.key",
                 lease.device, lease.token.epoch, lease.token.number, lease.owner, lease.key);
}

absl::Status FleetStore::EndLease(const LeaseToken& token) {
  return Execute(*database_, "DELETE FROM leases WHERE epoch = ? AND number = ?", token.epoch, token.number);
}

absl::StatusOr<std::vector<HeldLease>> FleetStore::Leases() {
  return ReadRows(*database_, ReadLease,
                  "SELECT epoch, number, device, owner, key FROM leases ORDER BY epoch, number");
}

absl::Status FleetStore::PutDevice(const FleetDevice& device) {
  RETURN_IF_ERROR(Named(CheckStorable(device)));
  return Execute(
      *database_,
      "INSERT INTO devices (id, agent, owner, keys, info, drained, last_seen_ms, shared_with) VALUES (?, ?, "
      "?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, owner = excluded.owner, keys "
      "= excluded.keys, info = excluded.info, last_seen_ms = excluded.last_seen_ms",
      device.id, device.agent, device.owner, JoinLines(device.keys), SqlBytes{.bytes = device.info},
      device.drained.value_or(""), device.last_seen_ms, JoinLines(device.shared_with));
}

absl::Status FleetStore::ChangeDevice(const std::string& device, std::string_view column,
                                      const std::string& value) {
  ASSIGN_OR_RETURN(const int64_t found,
                   ChangeRows(*database_, absl::StrCat("UPDATE devices SET ", column, " = ? WHERE id = ?"),
                              value, device));
  if (found > 0) return absl::OkStatus();
  return Named(absl::NotFoundError(absl::StrCat("has no device \"", Printable(device), "\"")));
}

absl::Status FleetStore::SetDrained(const std::string& device, const std::optional<std::string>& reason) {
  if (reason) RETURN_IF_ERROR(Named(CheckReason(*reason)));
  return ChangeDevice(device, "drained", reason.value_or(""));
}

absl::Status FleetStore::SetShared(const std::string& device, const std::set<std::string>& owners) {
  RETURN_IF_ERROR(Named(CheckOwners(owners)));
  return ChangeDevice(device, "shared_with", JoinLines(owners));
}

absl::Status FleetStore::SetTrust(const std::string& owner, const std::set<std::string>& trusted) {
  RETURN_IF_ERROR(Named(CheckOwners({owner})));
  RETURN_IF_ERROR(Named(CheckOwners(trusted)));
  return Execute(
      *database_,
      "INSERT INTO trusts VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET trusted = excluded.trusted", owner,
      JoinLines(trusted));
}

absl::StatusOr<std::map<std::string, std::set<std::string>>> FleetStore::Trusts() {
  ASSIGN_OR_RETURN(const std::vector<Trust> trusts,
                   ReadRows(*database_, ReadTrust, "SELECT owner, trusted FROM trusts"));
  return std::map<std::string, std::set<std::string>>(trusts.begin(), trusts.end());
}

absl::Status FleetStore::RemoveDevice(const std::string& device) {
  return database_->Write([&](SqlSession& session) -> absl::Status {
    RETURN_IF_ERROR(Execute(session, "DELETE FROM leases WHERE device = ?", device));
    RETURN_IF_ERROR(Execute(session, "DELETE FROM devices WHERE id = ?", device));
    RETURN_IF_ERROR(Execute(session, "DELETE FROM calibrations WHERE device = ?", device));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<FleetDevice>> FleetStore::Devices() {
  return ReadRows(
      *database_, ReadDevice,
      "SELECT id, agent, owner, keys, info, drained, last_seen_ms, shared_with FROM devices ORDER BY id");
}

absl::Status FleetStore::AddCalibration(const std::string& device, const Calibration& calibration) {
  RETURN_IF_ERROR(Named(CheckStorable(calibration)));
  return database_->Write([&](SqlSession& session) -> absl::Status {
    const Peaks& peaks = calibration.peaks;
    RETURN_IF_ERROR(Execute(session,
                            "INSERT INTO calibrations (device, time_ms, gflops, bf16_gflops, int8_gops, "
                            "l2_gb_per_s, l3_gb_per_s, memory_gb_per_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                            device, calibration.time_ms, peaks.gflops_per_core, peaks.bf16_gflops_per_core,
                            peaks.int8_gops_per_core, peaks.l2_gb_per_s, peaks.l3_gb_per_s,
                            peaks.memory_gb_per_s));
    constexpr std::string_view kNumbers = "SELECT number FROM calibrations WHERE device = ? ORDER BY number ";
    RETURN_IF_ERROR(Execute(session,
                            absl::StrCat("DELETE FROM calibrations WHERE device = ? AND number NOT IN (",
                                         kNumbers, "LIMIT ?) AND number NOT IN (", kNumbers, "DESC LIMIT ?)"),
                            device, device, kFirstCalibrationsKept, device, kLatestCalibrationsKept));
    return absl::OkStatus();
  });
}

absl::Status FleetStore::ForgetCalibrations(const std::string& device) {
  return Execute(*database_, "DELETE FROM calibrations WHERE device = ?", device);
}

absl::StatusOr<std::vector<Calibration>> FleetStore::Calibrations(const std::string& device) {
  return ReadRows(*database_, ReadCalibration,
                  "SELECT time_ms, gflops, bf16_gflops, int8_gops, l2_gb_per_s, l3_gb_per_s, memory_gb_per_s "
                  "FROM calibrations WHERE device = ? ORDER BY number",
                  device);
}

absl::StatusOr<std::optional<std::string>> FleetStore::LoadAuthorities() {
  return database_->Read([](SqlSession& session) { return ReadSecret(session, kAuthorities); });
}

absl::Status FleetStore::SaveAuthorities(const std::string& text) {
  return database_->Write([&](SqlSession& session) { return WriteSecret(session, kAuthorities, text); });
}

absl::StatusOr<std::string> FleetStore::LoadRestoredTimes() {
  return database_->Read([](SqlSession& session) { return ReadRestoredTimes(session); });
}

absl::StatusOr<std::string> FleetStore::ReadRestoredTimes(SqlSession& session) {
  ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadSecret(session, kRestoredTimes));
  return text.value_or("");
}

absl::Status FleetStore::WriteRestoredTimes(SqlSession& session, const std::string& text) {
  return WriteSecret(session, kRestoredTimes, text);
}

absl::Status FleetStore::CheckWritable() { return database_->CheckWritable(); }

}  // namespace attune
