#include "service/rest/sqlite_service_store.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/sqlite/sqlite_rows.h"
#include "base/sqlite/sqlite_schema.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr const char* kTables[] = {
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
constexpr SqliteSchema kSchema = {.application_id = 0x41745376,  // "AtSv"
                                  .version = 1,
                                  .statements = kTables,
                                  .words = {.what = "service database", .flag = "--state"}};

constexpr std::string_view kSelectToken =
    "SELECT id, name, tenant, role, created_by, created_ms, expires_ms FROM tokens WHERE is_revoked = 0 AND "
    "expires_ms > ? AND ";

absl::StatusOr<AccessToken> ReadToken(const SqliteStatement& row) {
  ASSIGN_OR_RETURN(const AccessRole role, AccessRoleNamed(row.Text(3)));
  return AccessToken{.id = row.Text(0),
                     .name = row.Text(1),
                     .tenant = row.Text(2),
                     .role = role,
                     .created_by = row.Text(4),
                     .created_ms = row.Integer(5),
                     .expires_ms = row.Integer(6)};
}

absl::StatusOr<KnownUpload> ReadUpload(const SqliteStatement& row) {
  KnownUpload upload = {
      .tenant = row.Text(0), .digest = row.Text(1), .bytes = row.Integer(2), .created_ms = row.Integer(3)};
  if (upload.bytes < 0) return InvalidInput("an upload of negative size");
  return upload;
}

absl::StatusOr<std::string> ReadText(const SqliteStatement& row) { return row.Text(0); }

template <typename Row>
std::optional<Row> FirstOf(std::vector<Row> rows) {
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteServiceStore>> SqliteServiceStore::Open(const std::string& path) {
  RETURN_IF_ERROR(MakeFoldersOf(path, kSchema));
  ASSIGN_OR_RETURN(auto connection, SqliteConnection::Open(path, {}, kSchema.words));
  RETURN_IF_ERROR(PrepareDatabase(*connection, kSchema, DatabaseAccess::kCreate));
  // A power cut must not undo anything: a revoked token would be good again.
  RETURN_IF_ERROR(connection->Execute("PRAGMA synchronous = FULL"));
  return std::unique_ptr<SqliteServiceStore>(new SqliteServiceStore(std::move(connection)));
}

absl::Status SqliteServiceStore::InsertToken(const AccessToken& token, const std::string& digest) {
  return ChangeRows(*connection_, "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)", digest, token.id,
                    token.name, token.tenant, Name(token.role), token.created_by, token.created_ms,
                    token.expires_ms)
      .status();
}

absl::Status SqliteServiceStore::AddToken(const AccessToken& token, const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  ASSIGN_OR_RETURN(const auto known,
                   ReadRows(*connection_, ReadToken, absl::StrCat(kSelectToken, "tenant = ?"),
                            token.created_ms, token.tenant));
  if (std::ssize(known) >= kMostTokens)
    return absl::FailedPreconditionError(
        absl::StrCat("tenant ", token.tenant, " has ", known.size(), " tokens; revoke some"));
  RETURN_IF_ERROR(InsertToken(token, digest));
  return transaction.Commit();
}

absl::StatusOr<bool> SqliteServiceStore::AddFirstToken(const AccessToken& token, const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  ASSIGN_OR_RETURN(const int64_t known, connection_->Integer("SELECT count(*) FROM tokens"));
  if (known > 0) return false;
  RETURN_IF_ERROR(InsertToken(token, digest));
  RETURN_IF_ERROR(transaction.Commit());
  return true;
}

absl::StatusOr<std::optional<AccessToken>> SqliteServiceStore::FindToken(const std::string& digest,
                                                                         int64_t now_ms) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(auto found, ReadRows(*connection_, ReadToken, absl::StrCat(kSelectToken, "digest = ?"),
                                        now_ms, digest));
  return FirstOf(std::move(found));
}

absl::StatusOr<std::vector<AccessToken>> SqliteServiceStore::Tokens(const std::string& tenant,
                                                                    int64_t now_ms) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ReadRows(*connection_, ReadToken,
                  absl::StrCat(kSelectToken, "tenant = ? ORDER BY created_ms DESC, id"), now_ms, tenant);
}

absl::Status SqliteServiceStore::RevokeToken(const std::string& id, const std::string& tenant) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(const int64_t found,
                   ChangeRows(*connection_,
                              absl::StrCat("UPDATE tokens SET is_revoked = 1 WHERE id = ? AND ",
                                           tenant.empty() ? "? = ''" : "tenant = ?"),
                              id, tenant));
  if (found > 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("there is no token \"", Printable(id), "\""));
}

absl::StatusOr<std::vector<KnownUpload>> SqliteServiceStore::UploadsOf(const std::string& tenant) {
  return ReadRows(*connection_, ReadUpload,
                  "SELECT tenant, digest, bytes, created_ms FROM uploads WHERE tenant = ? ORDER BY "
                  "created_ms, digest",
                  tenant);
}

absl::StatusOr<KnownUpload> SqliteServiceStore::AddUpload(const KnownUpload& upload, int64_t most_bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  ASSIGN_OR_RETURN(const std::vector<KnownUpload> known, UploadsOf(upload.tenant));
  int64_t left = most_bytes;
  for (const KnownUpload& other : known) {
    if (other.digest == upload.digest) return other;
    left -= std::min(left, other.bytes);
  }
  if (upload.bytes > left || std::ssize(known) >= kMostUploads)
    return absl::OutOfRangeError(absl::StrCat(
        "tenant ", upload.tenant, " may store ", most_bytes, " bytes in ", kMostUploads, " uploads, and has ",
        left, " bytes and ", kMostUploads - std::ssize(known), " uploads left; delete some"));
  RETURN_IF_ERROR(ChangeRows(*connection_, "INSERT INTO uploads VALUES (?, ?, ?, ?)", upload.tenant,
                             upload.digest, upload.bytes, upload.created_ms)
                      .status());
  RETURN_IF_ERROR(transaction.Commit());
  return upload;
}

absl::StatusOr<std::optional<KnownUpload>> SqliteServiceStore::FindUpload(const std::string& tenant,
                                                                          const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(
      auto found,
      ReadRows(*connection_, ReadUpload,
               "SELECT tenant, digest, bytes, created_ms FROM uploads WHERE tenant = ? AND digest = ?",
               tenant, digest));
  return FirstOf(std::move(found));
}

absl::StatusOr<std::vector<KnownUpload>> SqliteServiceStore::Uploads(const std::string& tenant) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return UploadsOf(tenant);
}

absl::Status SqliteServiceStore::RemoveUpload(const std::string& tenant, const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ChangeRows(*connection_, "DELETE FROM uploads WHERE tenant = ? AND digest = ?", tenant, digest)
      .status();
}

absl::StatusOr<std::string> SqliteServiceStore::ClaimKey(const std::string& tenant, const std::string& key,
                                                         const std::string& request, int64_t now_ms,
                                                         int64_t forgotten_ms) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  RETURN_IF_ERROR(
      ChangeRows(*connection_, "DELETE FROM request_keys WHERE created_ms < ?", forgotten_ms).status());
  RETURN_IF_ERROR(ChangeRows(*connection_,
                             "INSERT INTO request_keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", tenant,
                             key, request, now_ms)
                      .status());
  ASSIGN_OR_RETURN(auto found,
                   ReadRows(*connection_, ReadText,
                            "SELECT request FROM request_keys WHERE tenant = ? AND key = ?", tenant, key));
  RETURN_IF_ERROR(transaction.Commit());
  return FirstOf(std::move(found)).value_or("");
}

absl::Status SqliteServiceStore::ForgetKey(const std::string& tenant, const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ChangeRows(*connection_, "DELETE FROM request_keys WHERE tenant = ? AND key = ?", tenant, key)
      .status();
}

}  // namespace attune
