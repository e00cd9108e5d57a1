#include "service/state/service_store.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr const char* kUp1[] = {
    "CREATE TABLE tokens (digest TEXT NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, "
    "tenant TEXT NOT NULL, role TEXT NOT NULL, created_by TEXT NOT NULL, created_ms INTEGER NOT NULL, "
    "expires_ms INTEGER NOT NULL, is_revoked INTEGER NOT NULL) STRICT",
    "CREATE INDEX tokens_by_tenant ON tokens (tenant, expires_ms)",
    "CREATE TABLE uploads (tenant TEXT NOT NULL, digest TEXT NOT NULL, bytes INTEGER NOT NULL, created_ms "
    "INTEGER NOT NULL, PRIMARY KEY (tenant, digest)) STRICT",
    "CREATE TABLE request_keys (tenant TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, created_ms "
    "INTEGER NOT NULL, PRIMARY KEY (tenant, key)) STRICT",
    "CREATE INDEX request_keys_by_time ON request_keys (created_ms)",
};
constexpr const char* kDown1[] = {"DROP TABLE tokens", "DROP TABLE uploads", "DROP TABLE request_keys"};
constexpr const char* kUp2[] = {"ALTER TABLE uploads ADD COLUMN used_ms INTEGER NOT NULL DEFAULT 0"};
constexpr const char* kDown2[] = {"ALTER TABLE uploads DROP COLUMN used_ms"};
constexpr SqlMigration kMigrations[] = {{.up = kUp1, .down = kDown1}, {.up = kUp2, .down = kDown2}};

constexpr std::string_view kSelectToken =
    "SELECT id, name, tenant, role, created_by, created_ms, expires_ms FROM tokens WHERE is_revoked = 0 AND "
    "expires_ms > ? AND ";

constexpr std::string_view kSelectUpload = "SELECT tenant, digest, bytes, created_ms, used_ms FROM uploads ";

absl::StatusOr<AccessToken> ReadToken(const SqlRow& row) {
  ASSIGN_OR_RETURN(const AccessRole role, AccessRoleNamed(row.Text(3)));
  return AccessToken{.id = row.Text(0),
                     .name = row.Text(1),
                     .tenant = row.Text(2),
                     .role = role,
                     .created_by = row.Text(4),
                     .created_ms = row.Integer(5),
                     .expires_ms = row.Integer(6)};
}

absl::StatusOr<KnownUpload> ReadUpload(const SqlRow& row) {
  // Older versions have stored sizes beyond 2^63 as negative ones. No file is that large: as an empty upload
  // it does no harm, and is removed when its digest proves wrong.
  return KnownUpload{.tenant = row.Text(0),
                     .digest = row.Text(1),
                     .bytes = std::max<int64_t>(row.Integer(2), 0),
                     .created_ms = row.Integer(3),
                     .used_ms = row.Integer(4)};
}

absl::StatusOr<std::vector<KnownUpload>> UploadsOf(SqlSession& session, const std::string& tenant) {
  return ReadRows(session, ReadUpload,
                  absl::StrCat(kSelectUpload, "WHERE tenant = ? ORDER BY created_ms, digest"), tenant);
}

absl::Status InsertToken(SqlSession& session, const AccessToken& token, const std::string& digest) {
  return Execute(session, "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)", digest, token.id,
                 token.name, token.tenant, Name(token.role), token.created_by, token.created_ms,
                 token.expires_ms);
}

}  // namespace

const SqlSchema& ServiceSchema() {
  static constexpr SqlSchema kSchema = {.store = "service",
                                        .file = "service.db",
                                        .application_id = 0x41745376,  // "AtSv"
                                        .migrations = kMigrations,
                                        .words = {.what = "service database", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<ServiceStore>> ServiceStore::Open(const SqlLocation& location) {
  ASSIGN_OR_RETURN(auto database, location.Open(ServiceSchema()));
  return std::unique_ptr<ServiceStore>(new ServiceStore(std::move(database)));
}

absl::Status ServiceStore::AddToken(const AccessToken& token, const std::string& digest) {
  return database_->Write([&](SqlSession& session) -> absl::Status {
    ASSIGN_OR_RETURN(const auto known,
                     ReadSoundRows(session, ReadToken, absl::StrCat(kSelectToken, "tenant = ?"),
                                   token.created_ms, token.tenant));
    if (std::ssize(known) >= kMostTokens)
      return absl::FailedPreconditionError(
          absl::StrCat("tenant ", token.tenant, " has ", known.size(), " tokens; revoke some"));
    return InsertToken(session, token, digest);
  });
}

absl::StatusOr<bool> ServiceStore::AddFirstToken(const AccessToken& token, const std::string& digest) {
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const int64_t known, ReadInteger(session, "SELECT count(*) FROM tokens"));
    if (known > 0) return false;
    RETURN_IF_ERROR(InsertToken(session, token, digest));
    return true;
  });
}

absl::StatusOr<std::optional<AccessToken>> ServiceStore::FindToken(const std::string& digest,
                                                                   int64_t now_ms) {
  return ReadRow(*database_, ReadToken, absl::StrCat(kSelectToken, "digest = ?"), now_ms, digest);
}

absl::StatusOr<std::vector<AccessToken>> ServiceStore::Tokens(const std::string& tenant, int64_t now_ms) {
  return ReadSoundRows(*database_, ReadToken,
                       absl::StrCat(kSelectToken, "tenant = ? ORDER BY created_ms DESC, id"), now_ms, tenant);
}

absl::Status ServiceStore::RevokeToken(const std::string& id, const std::string& tenant) {
  ASSIGN_OR_RETURN(const int64_t found,
                   ChangeRows(*database_,
                              absl::StrCat("UPDATE tokens SET is_revoked = 1 WHERE id = ? AND ",
                                           tenant.empty() ? "? = ''" : "tenant = ?"),
                              id, tenant));
  if (found > 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("there is no token \"", Printable(id), "\""));
}

absl::StatusOr<KnownUpload> ServiceStore::AddUpload(const KnownUpload& upload, int64_t most_bytes) {
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<KnownUpload> {
    ASSIGN_OR_RETURN(const std::vector<KnownUpload> known, UploadsOf(session, upload.tenant));
    int64_t left = most_bytes;
    for (const KnownUpload& other : known) {
      if (other.digest == upload.digest) return other;
      left -= std::min(left, other.bytes);
    }
    if (upload.bytes > left || std::ssize(known) >= kMostUploads)
      return absl::OutOfRangeError(absl::StrCat("tenant ", upload.tenant, " may store ", most_bytes,
                                                " bytes in ", kMostUploads, " uploads, and has ", left,
                                                " bytes and ", kMostUploads - std::ssize(known),
                                                " uploads left; delete some"));
    RETURN_IF_ERROR(Execute(session, "INSERT INTO uploads VALUES (?, ?, ?, ?, ?)", upload.tenant,
                            upload.digest, upload.bytes, upload.created_ms, upload.used_ms));
    return upload;
  });
}

absl::StatusOr<std::optional<KnownUpload>> ServiceStore::FindUpload(const std::string& tenant,
                                                                    const std::string& digest) {
  return ReadRow(*database_, ReadUpload, absl::StrCat(kSelectUpload, "WHERE tenant = ? AND digest = ?"),
                 tenant, digest);
}

absl::StatusOr<std::vector<KnownUpload>> ServiceStore::Uploads(const std::string& tenant) {
  return database_->Read([&](SqlSession& session) { return UploadsOf(session, tenant); });
}

absl::Status ServiceStore::UseUpload(const std::string& tenant, const std::string& digest, int64_t now_ms) {
  return Execute(*database_, "UPDATE uploads SET used_ms = ? WHERE tenant = ? AND digest = ?", now_ms, tenant,
                 digest);
}

absl::StatusOr<std::vector<KnownUpload>> ServiceStore::RestingUploads(int64_t before_ms) {
  return ReadRows(*database_, ReadUpload,
                  absl::StrCat(kSelectUpload, "WHERE used_ms < ? ORDER BY tenant, used_ms, digest"),
                  before_ms);
}

absl::Status ServiceStore::RemoveUpload(const std::string& tenant, const std::string& digest) {
  return Execute(*database_, "DELETE FROM uploads WHERE tenant = ? AND digest = ?", tenant, digest);
}

absl::StatusOr<std::string> ServiceStore::ClaimKey(const std::string& tenant, const std::string& key,
                                                   const std::string& request, int64_t now_ms,
                                                   int64_t forgotten_ms) {
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<std::string> {
    RETURN_IF_ERROR(Execute(session, "DELETE FROM request_keys WHERE created_ms < ?", forgotten_ms));
    RETURN_IF_ERROR(Execute(session, "INSERT INTO request_keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                            tenant, key, request, now_ms));
    ASSIGN_OR_RETURN(const std::optional<std::string> found,
                     ReadRow(session, ReadText,
                             "SELECT request FROM request_keys WHERE tenant = ? AND key = ?", tenant, key));
    return found.value_or("");
  });
}

absl::Status ServiceStore::ForgetKey(const std::string& tenant, const std::string& key) {
  return Execute(*database_, "DELETE FROM request_keys WHERE tenant = ? AND key = ?", tenant, key);
}

absl::Status ServiceStore::RemoveTenant(const std::string& tenant) {
  return database_->Write([&](SqlSession& session) -> absl::Status {
    RETURN_IF_ERROR(Execute(session, "DELETE FROM tokens WHERE tenant = ?", tenant));
    return Execute(session, "DELETE FROM request_keys WHERE tenant = ?", tenant);
  });
}

}  // namespace attune
