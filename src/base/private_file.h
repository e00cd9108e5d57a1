// Files with secrets, such as private keys, which only their owner may read.
#ifndef ATTUNE_BASE_PRIVATE_FILE_H_
#define ATTUNE_BASE_PRIVATE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

// Makes the folder for its owner alone, and the missing folders above it as usual. One that exists keeps its
// mode, since it may have other files. Errors name the path.
absl::Status MakePrivateFolder(const std::string& path);

// Like WriteFileAtomically(), but at no moment can others read the new content.
absl::Status WritePrivateFile(const std::string& path, std::string_view content);

// Like ReadFile(), but refuses (PermissionDenied) a file that others may read or write: its secret may be
// known, or may have been replaced.
absl::StatusOr<std::string> ReadPrivateFile(const std::string& path, int64_t max_bytes);

}  // namespace attune

#endif  // ATTUNE_BASE_PRIVATE_FILE_H_
