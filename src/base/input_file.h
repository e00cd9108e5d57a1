// Opens a file for reading, checked and opened in one step.
//
// Problem: a path may name anything. Opening a named pipe waits for a writer that may never come, a device
// has no end, and another process may replace the file between the check of its path and the opening. Idea:
// open without waiting, then ask the descriptor what was opened.
#ifndef ATTUNE_BASE_INPUT_FILE_H_
#define ATTUNE_BASE_INPUT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

struct InputFile {
  FileDescriptor descriptor;
  int64_t bytes = 0;  // when it was opened
};

// Opens a regular file; symbolic links to it are followed. Errors name the path: not found, a folder, a
// pipe or a device, or the system's reason.
absl::StatusOr<InputFile> OpenInputFile(const std::string& path);

// Opens a file that another file names, whose author may be hostile. `location` must be a relative path
// that stays below `folder`, passes through no symbolic link and ends at a regular file that has no other
// name (a hard link could be anybody's file). Errors do not name the path.
absl::StatusOr<InputFile> OpenInputFileBelow(const std::string& folder, const std::string& location);

// Fills `to` with the `bytes` bytes at `offset`.
absl::Status ReadRange(const InputFile& file, int64_t offset, int64_t bytes, void* to);

// The first `bytes` bytes of a regular file, or the whole file if it is shorter.
absl::StatusOr<std::string> ReadFileHead(const std::string& path, int64_t bytes);

}  // namespace attune

#endif  // ATTUNE_BASE_INPUT_FILE_H_
