// Writes a tar archive (POSIX.1-2001, pax) into a file, as it comes.
#ifndef ATTUNE_SERVICE_TENANTS_TAR_WRITER_H_
#define ATTUNE_SERVICE_TENANTS_TAR_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// Not thread safe. After an error, the archive is useless.
class TarWriter {
 public:
  // Writes to an unnamed file, which goes with its descriptor; in `folder`, which must exist.
  static absl::StatusOr<TarWriter> Begin(const std::string& folder);

  absl::Status Add(const std::string& name, std::string_view content);
  // The first `bytes` of the file.
  absl::Status AddFile(const std::string& name, const FileDescriptor& file, int64_t bytes);

  // The archive, to be read from its start, and its size.
  struct Archive {
    FileDescriptor file;
    int64_t bytes = 0;
  };
  absl::StatusOr<Archive> Finish();

 private:
  explicit TarWriter(FileDescriptor file) : file_(std::move(file)) {}

  absl::Status Write(std::string_view bytes);
  // Fills the last block.
  absl::Status Pad();
  absl::Status WriteHeader(const std::string& name, int64_t bytes, char type);
  absl::Status BeginEntry(const std::string& name, int64_t bytes);

  FileDescriptor file_;
  int64_t written_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_TENANTS_TAR_WRITER_H_
