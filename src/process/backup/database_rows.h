// The rows of a server's PostgreSQL database in an archive.
#ifndef ATTUNE_PROCESS_BACKUP_DATABASE_ROWS_H_
#define ATTUNE_PROCESS_BACKUP_DATABASE_ROWS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "process/backup/archive.h"

namespace attune {

// Adds the rows of all stores, as they are at one moment, and returns their number. NotFound if the database
// is no server's.
absl::StatusOr<int64_t> BackUpDatabase(const SqlLocation& database, ArchiveWriter& archive);

// FailedPrecondition if the database has tables of a server.
absl::Status CheckDatabaseIsFree(const SqlLocation& database);

struct RestoredRows {
  int64_t rows = 0;
  int64_t epoch = 0;  // the fleet's
};

// Makes the tables in a database that is free, with the archive's rows, less what must not count again
// (restored_state.h); all of it or nothing.
absl::StatusOr<RestoredRows> RestoreDatabase(const std::string& file, std::string_view passphrase,
                                             const SqlLocation& database, int64_t backup_ms, int64_t now_ms);

}  // namespace attune

#endif  // ATTUNE_PROCESS_BACKUP_DATABASE_ROWS_H_
