#include "base/sqlite/active_lock.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"

namespace attune {
namespace {

// The byte to lock for an id, which may be any text. If two ids share a byte, one of them just cannot
// be resumed.
off_t PlaceOf(const std::string& id) {
  constexpr size_t kDigits = 15;
  return static_cast<off_t>(std::strtoll(Sha256Hex(id).substr(0, kDigits).c_str(), nullptr, 16));
}

}  // namespace

absl::StatusOr<FileDescriptor> LockActive(const std::string& database, const std::string& id) {
  const std::string path = database + "-runs";
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  struct stat info;
  if (file.get() < 0 ? errno == ELOOP : fstat(file.get(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return InvalidInput(path, ": is a link or no regular file, and so cannot mark work as alive; remove it");
  }
  if (file.get() < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": cannot be opened to mark work as alive: ", std::strerror(errno)));
  }
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = PlaceOf(id);
  lock.l_len = 1;
  if (fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return file;
  if (errno == EAGAIN || errno == EACCES) return FileDescriptor(-1);
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": cannot be locked to mark work as alive: ", std::strerror(errno)));
}

}  // namespace attune
