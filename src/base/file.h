// Files: whole-file reads with a bound, and writes that leave no partial file behind.
#ifndef ATTUNE_BASE_FILE_H_
#define ATTUNE_BASE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/input_file.h"

namespace attune {

// The whole content of `path`. Errors name the path: not found, a directory, larger than
// `max_bytes`, or the system's reason.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes);
// The same for a file that was just opened; `path` is its name in errors.
absl::StatusOr<std::string> ReadFile(const InputFile& file, const std::string& path, int64_t max_bytes);

// Writes `content` to `path` by OutputFile: a regular file is replaced once the new content is complete and
// synced. On any failure (an unwritable folder, a full disk) an existing file is untouched, nothing is left
// beside it and the error names `path`.
absl::Status WriteFileAtomically(const std::string& path, std::string_view content);

// The SHA-256 of `bytes` as 64 hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace attune

#endif  // ATTUNE_BASE_FILE_H_
