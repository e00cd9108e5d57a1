// Files in which a service keeps its state: keys, databases, logs.
//
// Problem: an attacker who can put a link in the place of such a file makes the service write its secrets
// into another file, or read another one. Idea: only the owner can write in the folder, and no file in it is
// opened that is a link. Files that a user names, such as a certificate, may be links: they are no state.
#ifndef ATTUNE_BASE_STATE_FILE_H_
#define ATTUNE_BASE_STATE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

// Refuses (PermissionDenied) a folder that is another user's or that others can write to, or that others
// could replace. A message is one sentence with the way out. NotFound if there is no such folder.
absl::Status CheckStateFolder(const std::string& path);
// Like MakePrivateFolder(), with that check.
absl::Status MakeStateFolder(const std::string& path);

// Refuses (PermissionDenied) what is at the path and is to be written in place, such as a database or a log:
// a symbolic link, a hard link to another file, and all that is no file. Nothing may be there yet, not even
// the folder, which is checked as well.
absl::Status CheckStateFile(const std::string& path);

// Like WritePrivateFile() and ReadPrivateFile(), in such a folder. They refuse a symbolic link, and all that
// is no file.
absl::Status WriteStateFile(const std::string& path, std::string_view content);
absl::StatusOr<std::string> ReadStateFile(const std::string& path, int64_t max_bytes);

}  // namespace attune

#endif  // ATTUNE_BASE_STATE_FILE_H_
