// Backs up and restores the state of a server that runs in a container, whose volume this machine's user may
// not be able to read.
#ifndef ATTUNE_PROCESS_SETUP_CONTAINER_BACKUP_H_
#define ATTUNE_PROCESS_SETUP_CONTAINER_BACKUP_H_

#include <string>

#include "absl/status/statusor.h"
#include "process/setup/installation.h"

namespace attune {

// Has the server's container write its state, and copies that to the file, for this user alone. The container
// must run. Returns what `attune backup` has said of it.
absl::StatusOr<std::string> BackUpContainer(const Installation& installation, const std::string& file,
                                            const std::string& passphrase);

// Makes the server's volume from a backup. Nothing may run, and the volume must not be there. The volumes of
// the other services are removed: they join again. Returns the text of a new token.
absl::StatusOr<std::string> RestoreContainer(const Installation& installation, const std::string& file,
                                             const std::string& passphrase);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_CONTAINER_BACKUP_H_
