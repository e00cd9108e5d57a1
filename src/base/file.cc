#include "base/file.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/escaping.h"
#include "base/status.h"

namespace attune {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::Status SystemError(std::string_view path, std::string_view what) {
  const int error = errno;
  const std::string message = absl::StrCat(path, ": ", what, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(message) : absl::FailedPreconditionError(message);
}

absl::Status WriteAll(int fd, std::string_view content, std::string_view path) {
  while (!content.empty()) {
    const ssize_t n = write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(path, "cannot write");
    content.remove_prefix(static_cast<size_t>(n));
  }
  if (fsync(fd) != 0 && errno != EINVAL) return SystemError(path, "cannot write");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError(path, "cannot open");
  struct stat info;
  if (fstat(file.get(), &info) != 0) return SystemError(path, "cannot read");
  if (S_ISDIR(info.st_mode)) return InvalidInput(path, ": is a directory, not a file");
  if (info.st_size > max_bytes) {
    return InvalidInput(path, ": has ", info.st_size, " bytes, at most ", max_bytes, " are read");
  }
  std::string content;
  content.resize(static_cast<size_t>(S_ISREG(info.st_mode) ? info.st_size : 0));
  size_t used = 0;
  while (true) {
    if (used == content.size()) content.resize(used + (size_t{1} << 16));
    const ssize_t n = read(file.get(), content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(path, "cannot read");
    if (n == 0) break;
    used += static_cast<size_t>(n);
    if (static_cast<int64_t>(used) > max_bytes) {
      return InvalidInput(path, ": has more than ", max_bytes, " bytes");
    }
  }
  content.resize(used);
  return content;
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view content) {
  std::string temporary = path + ".tmp-XXXXXX";
  absl::Status status;
  {
    const FileDescriptor file(mkstemp(temporary.data()));
    if (file.get() < 0) return SystemError(path, "cannot write");
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(file.get(), 0666 & ~mask);
    status = WriteAll(file.get(), content, path);
  }
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) status = SystemError(path, "cannot write");
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return absl::BytesToHexString(
      std::string_view(reinterpret_cast<const char*>(digest), SHA256_DIGEST_LENGTH));
}

}  // namespace attune
