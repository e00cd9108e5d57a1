// Bytes that are named by what they are, sent once, and read by many processes.
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

// Bytes that nobody can change any more, and their digest. Small ones are memory of this process, so that
// thousands do not take as many open files; large ones lie in an anonymous file. Cheap to copy; the memory is
// there until the last copy and the last mapping are gone.
class Blob {
 public:
  // Errors: the system has no memory for it.
  static absl::StatusOr<Blob> Of(std::string bytes);
  // Seals a file that was made by memfd_create(MFD_ALLOW_SEALING), and reads it once for its digest.
  static absl::StatusOr<Blob> Seal(FileDescriptor file);

  const std::string& digest() const { return digest_; }
  int64_t size() const { return size_; }
  // A file that has the bytes, to be sent.
  absl::StatusOr<FileDescriptor> Open() const;

 private:
  Blob(std::string digest, int64_t size) : digest_(std::move(digest)), size_(size) {}

  std::string digest_;
  int64_t size_;
  // One of these.
  std::shared_ptr<const std::string> bytes_;
  std::shared_ptr<const FileDescriptor> file_;
};

// A file's bytes in memory, to be read alone. Movable; the mapping ends with it.
class MappedFile {
 public:
  // The file may be closed after that. Errors: it cannot be mapped.
  static absl::StatusOr<MappedFile> Map(int file);
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {memory_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(memory_), size_}; }

  // In processes that are forked from now on, the bytes from `begin` on, the start of a page, do not exist.
  void Hide(size_t begin) const;

 private:
  MappedFile() = default;

  std::byte* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_BLOB_H_
