// Files that are written as a whole or not at all.
//
// Problem: a write that fails halfway, or is interrupted, must neither destroy the old content nor leave
// rubbish beside it, and a path may lead to something that must not be replaced: a device, a pipe, a link
// to a file. Idea: write the content to a file without a name, and give it the name once it is complete.
#ifndef ATTUNE_BASE_OUTPUT_FILE_H_
#define ATTUNE_BASE_OUTPUT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

enum class FileAccess : uint8_t {
  kUsual,  // as the umask says; an existing file keeps its mode
  // Only the owner may read or write it, from its first byte; and its name is on the disk, too, once it is
  // finished.
  kOwner,
};

// For one thread at a time. Errors name the path.
class OutputFile {
 public:
  // Follows symbolic links. An existing file keeps, where the system allows it, its owner. If the path is not
  // a regular file, or if this process's stdout or stderr goes to it, it is written straight through,
  // whatever `access` is; a pipe without a reader is an error.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path,
                                                            FileAccess access = FileAccess::kUsual);
  // Whether Create() would succeed now, except that a pipe may get its reader later.
  static absl::Status Check(const std::string& path);
  // Without Finish(), the path is what it was before, and nothing is left beside it.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Write(std::string_view bytes);
  // Syncs the written bytes to the disk, then replaces the file at the path. Once, after the last Write().
  absl::Status Finish();

 private:
  OutputFile(std::string path, FileAccess access) : path_(std::move(path)), access_(access) {}
  absl::Status Open();
  absl::Status OpenTemporary();
  absl::Status Drain(std::string_view bytes);
  absl::Status SyncName() const;

  const std::string path_;
  const FileAccess access_;
  std::string target_;     // the file behind the path's links; empty if it is written straight through
  std::string temporary_;  // the temporary name of the file; empty if it has none
  std::string buffer_;
  FileDescriptor file_;
};

// Opens a file to append to, and creates it if it does not exist. Everything that OutputFile writes
// straight through is written straight through here too.
absl::StatusOr<FileDescriptor> OpenToAppend(const std::string& path);

// Whether output to `path` would mix with what this process writes to its stdout. False if stdout is a
// device, such as a terminal.
bool SharesStdout(const std::string& path);

// Writes all bytes; returns false, with errno set, if that fails.
bool WriteAll(const FileDescriptor& file, std::string_view bytes);

}  // namespace attune

#endif  // ATTUNE_BASE_OUTPUT_FILE_H_
