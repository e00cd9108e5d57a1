// Backs a server up while it runs, and restores it.
#ifndef ATTUNE_PROCESS_BACKUP_BACKUP_H_
#define ATTUNE_PROCESS_BACKUP_BACKUP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"

namespace attune {

inline constexpr size_t kLeastPassphraseBytes = 12;

// A server keeps its state here.
struct ServerState {
  std::string folder = {};
  // In PostgreSQL, with all that must last but the folder's keys; nothing: in SQLite files of the folder.
  std::optional<SqlLocation> database = {};
};

struct BackupReport {
  int64_t files = 0, bytes = 0;
  int64_t rows = 0;     // of PostgreSQL
  int64_t time_ms = 0;  // the state is that of this moment: since 1970, UTC
};

// Writes the state of a server, as it is at one moment, to a file that the passphrase opens. `version`: this
// program's. Fails, and leaves no file, if the state is no server's.
absl::StatusOr<BackupReport> BackUp(const ServerState& state, const std::string& file,
                                    std::string_view passphrase, const std::string& version);

struct RestoreReport {
  BackupReport backup = {};
  std::string version = {};  // of the program that has made the backup
  int64_t epoch = 0;         // leases of before have lower ones
};

// Makes the state of a server as it was backed up, less what must not count again (restored_state.h). The
// folder must not exist or be empty, and the database must have no tables of attune. A state in SQLite files
// may become one in PostgreSQL, but not the other way round. Reads and checks all of the file before it
// writes anything.
absl::StatusOr<RestoreReport> Restore(const std::string& file, const ServerState& state,
                                      std::string_view passphrase);

}  // namespace attune

#endif  // ATTUNE_PROCESS_BACKUP_BACKUP_H_
