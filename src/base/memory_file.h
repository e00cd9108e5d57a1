// A file that is in memory alone, for code that wants a path.
#ifndef ATTUNE_BASE_MEMORY_FILE_H_
#define ATTUNE_BASE_MEMORY_FILE_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

class MemoryFile {
 public:
  // A file with these bytes. Fails if the memory cannot be had.
  static absl::StatusOr<MemoryFile> Of(std::string_view bytes);

  // This process can open the file by this path while this object lives.
  std::string path() const;

 private:
  explicit MemoryFile(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_MEMORY_FILE_H_
