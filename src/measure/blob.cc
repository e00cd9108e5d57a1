#include "measure/blob.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/process/worker_process.h"
#include "base/status.h"

namespace attune {

namespace {

constexpr size_t kSmallBytes = size_t{1} << 20;

// An anonymous file with these bytes, to be sealed.
absl::StatusOr<FileDescriptor> WriteFile(std::string_view bytes) {
  FileDescriptor file(memfd_create("attune-blob", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  for (size_t done = 0; done < bytes.size() && file.get() >= 0;) {
    const ssize_t written = write(file.get(), bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) file.Close();
    done += written > 0 ? static_cast<size_t>(written) : 0;
  }
  if (file.get() < 0)
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes.size(), " bytes to send"));
  return file;
}

// Not F_SEAL_WRITE: it is refused while a writable mapping exists, and a process that another thread has
// just forked has copies of this process's mappings until it executes its program.
absl::Status AddSeals(const FileDescriptor& file) {
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) == 0)
    return absl::OkStatus();
  return InternalError("cannot seal an anonymous file: ", std::strerror(errno));
}

}  // namespace

absl::StatusOr<Blob> Blob::Of(std::string bytes) {
  if (bytes.size() > kSmallBytes) {
    ASSIGN_OR_RETURN(FileDescriptor file, WriteFile(bytes));
    return Seal(std::move(file));
  }
  Blob blob(Sha256Hex(bytes), std::ssize(bytes));
  blob.bytes_ = std::make_shared<const std::string>(std::move(bytes));
  return blob;
}

absl::StatusOr<Blob> Blob::Seal(FileDescriptor file) {
  RETURN_IF_ERROR(AddSeals(file));
  ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Map(file.get()));
  Blob blob(Sha256Hex(mapped.text()), std::ssize(mapped.bytes()));
  blob.file_ = std::make_shared<const FileDescriptor>(std::move(file));
  return blob;
}

absl::StatusOr<FileDescriptor> Blob::Open() const {
  if (bytes_ != nullptr) {
    ASSIGN_OR_RETURN(FileDescriptor file, WriteFile(*bytes_));
    RETURN_IF_ERROR(AddSeals(file));
    return file;
  }
  FileDescriptor copy(fcntl(file_->get(), F_DUPFD_CLOEXEC, 0));
  if (copy.get() < 0) return absl::ResourceExhaustedError(kTooFewFiles);
  return copy;
}

absl::StatusOr<MappedFile> MappedFile::Map(int file) {
  struct stat info = {};
  if (fstat(file, &info) != 0) return InternalError("cannot stat an anonymous file: ", std::strerror(errno));
  MappedFile mapped;
  if (info.st_size == 0) return mapped;
  const auto size = static_cast<size_t>(info.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    return absl::ResourceExhaustedError(absl::StrCat("no address space for ", size, " bytes"));
  mapped.memory_ = static_cast<std::byte*>(memory);
  mapped.size_ = size;
  return mapped;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

void MappedFile::Hide(size_t begin) const {
  if (begin < size_) madvise(memory_ + begin, size_ - begin, MADV_DONTFORK);
}

}  // namespace attune
