// Backs a server up while it runs, and restores it.
#ifndef ATTUNE_BACKUP_BACKUP_H_
#define ATTUNE_BACKUP_BACKUP_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace attune {

inline constexpr size_t kLeastPassphraseBytes = 12;

struct BackupReport {
  int64_t files = 0, bytes = 0;
  int64_t time_ms = 0;  // the state is that of this moment: since 1970, UTC
};

// Writes the state of the server in `folder`, as it is at one moment, to a file that the passphrase opens.
// `version`: this program's. Fails, and leaves no file, if the folder is no server's.
absl::StatusOr<BackupReport> BackUp(const std::string& folder, const std::string& file,
                                    std::string_view passphrase, const std::string& version);

struct RestoreReport {
  BackupReport backup = {};
  std::string version = {};  // of the program that has made the backup
  int64_t epoch = 0;         // leases of before have lower ones
};

// Makes the folder, which must not exist or be empty, the state of a server as it was backed up, less what
// must not count again (restored_state.h). Reads and checks all of the file before it writes anything.
absl::StatusOr<RestoreReport> Restore(const std::string& file, const std::string& folder,
                                      std::string_view passphrase);

}  // namespace attune

#endif  // ATTUNE_BACKUP_BACKUP_H_
