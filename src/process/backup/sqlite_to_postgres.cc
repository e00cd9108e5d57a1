#include "process/backup/sqlite_to_postgres.h"

#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sql/postgres_versions.h"
#include "base/sql/sql_copy.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/admission/restored_times.h"
#include "fleet/blobs/folder_blob_store.h"
#include "fleet/blobs/sql_blob_store.h"
#include "fleet/store/fleet_store.h"
#include "process/server/server_schemas.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostAuthorityBytes = 1 << 16;
// For the store's own files, of which there are none.
constexpr char kCache[] = "/.moved-blobs";

absl::StatusOr<std::string> ReadFirst(const SqlRow& row) { return row.Text(0); }

// Blobs that outlast a restart of the server (OpenLastingBlobs()).
struct BlobSpace {
  const char* owners;  // a query for their names
  const char* space;
  std::string folder;
};

absl::Status MoveRows(const std::string& folder, const SqlLocation& database, int64_t& rows) {
  return database.WriteAllStores([&](SqlSession& session) -> absl::Status {
    const std::vector<const SqlSchema*> schemas = ServerSchemas(database);
    StoresFromCopy copy(session, schemas, folder);
    for (const SqlSchema* schema : ServerSchemas(SqlLocation(folder))) {
      const std::string path = absl::StrCat(folder, "/", schema->file);
      std::error_code error;
      if (!fs::exists(path, error)) continue;  // an older version had no such store
      ASSIGN_OR_RETURN(const std::unique_ptr<SqlDatabase> files, OpenSqlite(path, *schema));
      RETURN_IF_ERROR(
          CopySqliteStore(*files, *schema, [&](std::string_view part) { return copy.Take(part); }));
    }
    RETURN_IF_ERROR(copy.Finish());
    rows = copy.rows();
    ASSIGN_OR_RETURN(const std::vector<RestoredTime> times, ReadRestoredTimes(folder));
    return FleetStore::WriteRestoredTimes(session, FormatRestoredTimes(times));
  });
}

absl::Status MoveAuthorities(const std::string& folder, const SqlLocation& database) {
  ASSIGN_OR_RETURN(const std::string text, ReadStateFile(folder + "/authorities.pem", kMostAuthorityBytes));
  ASSIGN_OR_RETURN(const std::unique_ptr<FleetStore> store, FleetStore::Open(database));
  return store->SaveAuthorities(text);
}

absl::Status MoveBlobs(const BlobSpace& from, const std::string& cache, const SqlLocation& database) {
  std::vector<std::string> owners;
  const absl::Status read = database.ReadAllStores([&](SqlSession& session) -> absl::Status {
    ASSIGN_OR_RETURN(owners, ReadRows(session, ReadFirst, from.owners));
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(read);
  ASSIGN_OR_RETURN(const std::unique_ptr<BlobStore> folder,
                   BlobStore::Open(from.folder, {.most_bytes = INT64_MAX}));
  ASSIGN_OR_RETURN(const std::unique_ptr<BlobStore> moved,
                   SqlBlobStore::Open(database, from.space, cache, {}));
  std::map<std::string, std::string> owner_of;  // the first that has a blob
  for (const std::string& owner : owners) {
    ASSIGN_OR_RETURN(const std::vector<std::string> digests, FolderBlobStore::DigestsOf(from.folder, owner));
    for (const std::string& digest : digests) {
      const auto [first, is_first] = owner_of.emplace(digest, owner);
      RETURN_IF_ERROR(is_first ? moved->Take(*folder, owner, owner, digest)
                               : moved->Share(first->second, owner, digest));
    }
  }
  return absl::OkStatus();
}

absl::Status RemoveMoved(const std::string& folder) {
  std::vector<std::string> paths = {kCache, "/uploads", "/jobs/files", "/authorities.pem", "/restored"};
  for (const SqlSchema* schema : ServerSchemas(SqlLocation(folder)))
    for (const char* ending : {"", "-wal", "-shm", "-journal"})
      paths.push_back(absl::StrCat("/", schema->file, ending));
  for (const std::string& path : paths) {
    std::error_code error;
    fs::remove_all(folder + path, error);
    if (error) return absl::FailedPreconditionError(absl::StrCat(folder, path, ": ", error.message()));
  }
  return absl::OkStatus();
}

absl::Status MoveAll(const std::string& folder, const SqlLocation& database) {
  RETURN_IF_ERROR(MoveAuthorities(folder, database));
  const BlobSpace spaces[] = {
      {.owners = "SELECT DISTINCT tenant FROM uploads", .space = "uploads", .folder = folder + "/uploads"},
      {.owners = "SELECT DISTINCT base FROM jobs", .space = "jobs", .folder = folder + "/jobs/files"}};
  for (const BlobSpace& space : spaces) RETURN_IF_ERROR(MoveBlobs(space, folder + kCache, database));
  return RemoveMoved(folder);
}

}  // namespace

absl::StatusOr<int64_t> MoveToPostgres(const std::string& folder, const SqlLocation& database) {
  int64_t rows = 0;
  RETURN_IF_ERROR(MoveRows(folder, database, rows));
  if (const absl::Status moved = MoveAll(folder, database); !moved.ok()) {
    database
        .WriteAllStores(
            [&](SqlSession& session) { return DropPostgresStores(session, ServerSchemas(database)); })
        .IgnoreError();  // the first error says more
    return moved;
  }
  return rows;
}

}  // namespace attune
