// Has the disk keep files and names, so that a power cut takes neither.
//
// A file that was written may be lost, or be empty, when the power goes, and so may its name in a folder,
// even if what was written after it is there. Code that records that a file exists must sync the file first,
// and then the folders that have got a new name.
#ifndef ATTUNE_BASE_SYNC_H_
#define ATTUNE_BASE_SYNC_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace attune {

// Returns when the content of the file at the path, which is no link, is on the disk. Errors name the path.
absl::Status SyncFile(const std::string& path);
// Returns when the names in the folder are on the disk.
absl::Status SyncFolder(const std::string& path);

// Called with each path once it is synced, by any thread: tests see by it what comes before and after.
using SyncWatch = void (*)(std::string_view path);
// From now on this one is called; null, as at first: none. Returns the previous one.
SyncWatch SetSyncWatch(SyncWatch watch);

}  // namespace attune

#endif  // ATTUNE_BASE_SYNC_H_
