// Files that are written as a whole or not at all.
//
// Problem: a write that fails halfway, or is interrupted, must neither destroy what was there nor leave
// rubbish beside it, and a path may lead to something that must not be replaced: a device, a pipe, a file's
// link. Idea: the content goes to a file without a name, which gets the name once it is complete.
#ifndef ATTUNE_BASE_OUTPUT_FILE_H_
#define ATTUNE_BASE_OUTPUT_FILE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// For one thread at a time. Errors name the path.
class OutputFile {
 public:
  // Follows symbolic links. An existing file keeps its mode and, where the system allows, its owner. What is
  // no regular file, and what this process's stdout or stderr goes to, is written straight through; a pipe
  // that nobody reads is an error.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path);
  // Whether Create() would succeed now, but that a pipe may get its reader later.
  static absl::Status Check(const std::string& path);
  // Without Finish(), the path is what it was before, and nothing is left beside it.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Write(std::string_view bytes);
  // Puts what was written on the disk and then in the path's place. Once, after the last Write().
  absl::Status Finish();

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  absl::Status Open();
  absl::Status OpenTemporary();
  absl::Status Drain(std::string_view bytes);

  const std::string path_;
  std::string target_;     // the file behind the path's links; empty where it is written straight through
  std::string temporary_;  // the name that the file has for now; empty where it has none
  std::string buffer_;
  FileDescriptor file_;
};

// A file to add to, which is made where there is none. What OutputFile writes straight through is so here
// too.
absl::StatusOr<FileDescriptor> OpenToAppend(const std::string& path);

// Whether what is written to `path` mixes with what this process writes to its stdout: not where that is a
// device, such as a terminal.
bool SharesStdout(const std::string& path);

// Writes all bytes; false, and errno set, where that fails.
bool WriteAll(const FileDescriptor& file, std::string_view bytes);

}  // namespace attune

#endif  // ATTUNE_BASE_OUTPUT_FILE_H_
