// The certificates among what the fleet's server keeps.
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"
#include "fleet/store/fleet_store.h"

namespace attune {
namespace {

constexpr std::string_view kSelectIssued =
    "SELECT serial, role, owner, id, begin_ms, end_ms, revoked_ms, reason, authority, is_shown FROM "
    "certificates ";

absl::StatusOr<IssuedCertificate> ReadIssued(const SqlRow& row) {
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
    certificate.revocation = {.reason = reason, .time_ms = row.Integer(6)};
    RETURN_IF_ERROR(CheckStorable(*certificate.revocation));
  }
  return certificate;
}

constexpr size_t kSerialsAtOnce = 64;

const std::string& SelectRevokedAmong() {
  static const std::string sql =
      absl::StrCat("SELECT serial FROM certificates WHERE reason != '' AND serial IN (?",
                   absl::StrJoin(std::vector<std::string_view>(kSerialsAtOnce, ""), ", ?"), ")");
  return sql;
}

}  // namespace

absl::Status FleetStore::AddCertificate(const CertificateFacts& facts) {
  RETURN_IF_ERROR(Named(CheckStorable(facts)));
  ASSIGN_OR_RETURN(
      const int64_t added,
      ChangeRows(*database_,
                 "INSERT INTO certificates (serial, role, owner, id, begin_ms, end_ms, revoked_ms, reason, "
                 "authority, is_shown) VALUES (?, ?, ?, ?, ?, ?, 0, '', ?, 0) ON CONFLICT DO NOTHING",
                 facts.serial, Name(facts.who.role), facts.who.owner, facts.who.id, facts.begin_ms,
                 facts.end_ms, facts.authority));
  if (added > 0) return absl::OkStatus();
  return Named(absl::AlreadyExistsError(absl::StrCat("has a certificate ", facts.serial, " already")));
}

absl::Status FleetStore::SetShown(const std::string& serial) {
  ASSIGN_OR_RETURN(const int64_t found,
                   ChangeRows(*database_, "UPDATE certificates SET is_shown = 1 WHERE serial = ?", serial));
  return found > 0 ? absl::OkStatus() : NoCertificate("serial", serial);
}

absl::Status FleetStore::NoCertificate(std::string_view column, const std::string& value) const {
  return Named(absl::NotFoundError(
      absl::StrCat("has no certificate with the ", column, " \"", Printable(value), "\"")));
}

absl::Status FleetStore::RevokeIdentity(const std::string& id, const Revocation& revocation) {
  RETURN_IF_ERROR(Named(CheckStorable(revocation)));
  ASSIGN_OR_RETURN(
      const int64_t found,
      ChangeRows(*database_,
                 "UPDATE certificates SET revoked_ms = CASE WHEN reason = '' THEN ? ELSE revoked_ms END, "
                 "reason = CASE WHEN reason = '' THEN ? ELSE reason END WHERE id = ?",
                 revocation.time_ms, revocation.reason, id));
  return found > 0 ? absl::OkStatus() : NoCertificate("id", id);
}

absl::StatusOr<int64_t> FleetStore::RevokeOwner(const std::string& owner, const Revocation& revocation) {
  RETURN_IF_ERROR(Named(CheckStorable(revocation)));
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<int64_t> {
    ASSIGN_OR_RETURN(
        const int64_t revoked,
        ChangeRows(session,
                   "UPDATE certificates SET revoked_ms = ?, reason = ? WHERE owner = ? AND reason = ''",
                   revocation.time_ms, revocation.reason, owner));
    ASSIGN_OR_RETURN(const int64_t invited,
                     ChangeRows(session, "DELETE FROM invitations WHERE owner = ?", owner));
    return revoked + invited;
  });
}

absl::Status FleetStore::ForgetCertificates(int64_t ended_ms) {
  return Execute(*database_, "DELETE FROM certificates WHERE end_ms <= ?", ended_ms);
}

absl::StatusOr<std::optional<IssuedCertificate>> FleetStore::FindCertificate(const std::string& serial) {
  return ReadRow(*database_, ReadIssued, absl::StrCat(kSelectIssued, "WHERE serial = ?"), serial);
}

absl::StatusOr<std::set<std::string>> FleetStore::RevokedAmong(const std::set<std::string>& serials) {
  using Serials = std::set<std::string>;
  return database_->Read([&](SqlSession& session) -> absl::StatusOr<Serials> {
    Serials revoked;
    std::vector<SqlValue> asked;
    for (auto serial = serials.begin(); serial != serials.end();) {
      asked.emplace_back(*serial++);
      // The last one fills up, so that there is one statement for any number.
      if (serial == serials.end()) asked.resize(kSerialsAtOnce, asked.back());
      if (asked.size() < kSerialsAtOnce) continue;
      ASSIGN_OR_RETURN(const SqlAnswer answer, session.Execute(SelectRevokedAmong(), asked));
      for (const SqlRow& row : answer.rows) revoked.insert(row.Text(0));
      asked.clear();
    }
    return revoked;
  });
}

absl::StatusOr<int64_t> FleetStore::NumRevoked(int64_t now_ms) {
  return database_->Read([&](SqlSession& session) {
    return ReadInteger(session, "SELECT count(*) FROM certificates WHERE reason != '' AND end_ms > ?",
                       now_ms);
  });
}

absl::StatusOr<std::vector<IssuedCertificate>> FleetStore::ValidCertificates(int64_t now_ms) {
  return ReadRows(*database_, ReadIssued,
                  absl::StrCat(kSelectIssued, "WHERE reason = '' AND end_ms > ? ORDER BY begin_ms, serial"),
                  now_ms);
}

}  // namespace attune
