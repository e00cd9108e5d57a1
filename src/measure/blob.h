// Immutable bytes that are identified by their digest, sent once, and read by many processes.
#ifndef ATTUNE_MEASURE_BLOB_H_
#define ATTUNE_MEASURE_BLOB_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// Bytes that cannot be changed any more, and their digest. Small blobs are memory of this process, so that
// thousands of them do not need as many open files; large ones are anonymous files. Cheap to copy; the memory
// is freed when the last copy and the last mapping are gone.
class Blob {
 public:
  // Fails if the system has no memory for it.
  static absl::StatusOr<Blob> Of(std::string bytes);
  // Seals a file made by memfd_create(MFD_ALLOW_SEALING), and reads it once to compute the digest.
  static absl::StatusOr<Blob> Seal(FileDescriptor file);

  const std::string& digest() const { return digest_; }
  int64_t size() const { return size_; }
  // A file with the bytes, to be sent.
  absl::StatusOr<FileDescriptor> Open() const;

 private:
  Blob(std::string digest, int64_t size) : digest_(std::move(digest)), size_(size) {}

  std::string digest_;
  int64_t size_;
  // Exactly one of the two is set.
  std::shared_ptr<const std::string> bytes_;
  std::shared_ptr<const FileDescriptor> file_;
};

// Maps a file's bytes into memory, read-only. Movable; the destructor unmaps them.
class MappedFile {
 public:
  // The file may be closed afterwards. Fails if it cannot be mapped.
  static absl::StatusOr<MappedFile> Map(int file);
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {memory_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(memory_), size_}; }

  // Hides the bytes from `begin`, the start of a page, from processes that are forked from now on.
  void Hide(size_t begin) const;

 private:
  MappedFile() = default;

  std::byte* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_BLOB_H_
