#include "device/lease_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr char kName[] = "processors";
constexpr char kAdvice[] = "; remove it, or name another folder with ATTUNE_LEASES";

absl::Status CannotUse(const std::string& path, int error) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": cannot be used for leases of processors: ", std::strerror(error), kAdvice));
}

// It is no error if the folder exists already: one that another process makes at the same time is as good.
// The folder is renamed to its final name only once its permissions are set, so that no process sees it
// without them.
absl::Status MakeFolder(const std::string& folder) {
  std::string temporary = folder + ".XXXXXX";
  if (mkdtemp(temporary.data()) == nullptr) return CannotUse(folder, errno);
  if (chmod(temporary.c_str(), 01777) == 0 &&
      renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, folder.c_str(), RENAME_NOREPLACE) == 0) {
    return absl::OkStatus();
  }
  const int error = errno;
  rmdir(temporary.c_str());
  return error == EEXIST ? absl::OkStatus() : CannotUse(folder, error);
}

// Like MakeFolder, for the file.
absl::Status MakeFile(int folder, const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const FileDescriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return CannotUse(path, errno);
  const std::string name = temporary.substr(temporary.rfind('/') + 1);
  if (fchmod(file.get(), 0666) == 0 && renameat2(folder, name.c_str(), folder, kName, RENAME_NOREPLACE) == 0)
    return absl::OkStatus();
  const int error = errno;
  unlinkat(folder, name.c_str(), 0);
  return error == EEXIST ? absl::OkStatus() : CannotUse(path, error);
}

absl::StatusOr<FileDescriptor> OpenFolder(const std::string& folder) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int opened = open(folder.c_str(), kFlags);
  if (opened < 0 && errno == ENOENT) {
    RETURN_IF_ERROR(MakeFolder(folder));
    opened = open(folder.c_str(), kFlags);
  }
  if (opened < 0 && (errno == ELOOP || errno == ENOTDIR))
    return absl::FailedPreconditionError(absl::StrCat(folder, ": is a link or no folder", kAdvice));
  if (opened < 0) return CannotUse(folder, errno);
  return FileDescriptor(opened);
}

// First tries without O_CREAT: if the folder is writable to all, the system refuses it for a file of
// another user.
absl::StatusOr<FileDescriptor> OpenFile(int folder, const std::string& path) {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int opened = openat(folder, kName, kFlags);
  if (opened < 0 && errno == ENOENT) {
    RETURN_IF_ERROR(MakeFile(folder, path));
    opened = openat(folder, kName, kFlags);
  }
  const int error = errno;
  FileDescriptor file(opened);
  struct stat found = {};
  const bool is_open = opened >= 0 && fstat(opened, &found) == 0;
  if (is_open ? !S_ISREG(found.st_mode) || found.st_nlink > 1 : error == ELOOP || error == ENXIO)
    return absl::FailedPreconditionError(absl::StrCat(path, ": is a link or no file", kAdvice));
  if (!is_open) return CannotUse(path, error);
  return file;
}

struct flock Description(short type, LeaseFile::Range range) {
  struct flock description = {};
  description.l_type = type;
  description.l_whence = SEEK_SET;
  description.l_start = range.first;
  description.l_len = range.count;
  return description;
}

short TypeOf(LeaseFile::Lock lock) { return lock == LeaseFile::Lock::kShared ? F_RDLCK : F_WRLCK; }

}  // namespace

absl::StatusOr<LeaseFile> LeaseFile::Open(const std::string& folder) {
  const std::string path = absl::StrCat(folder, "/", kName);
  ASSIGN_OR_RETURN(const FileDescriptor opened, OpenFolder(folder));
  ASSIGN_OR_RETURN(FileDescriptor file, OpenFile(opened.get(), path));
  // Programs that clean up temporary folders look at the file's times.
  futimens(file.get(), nullptr);
  return LeaseFile(path, std::move(file));
}

// Closing is not enough: a child that was just made by fork may still have the file open.
LeaseFile::~LeaseFile() {
  constexpr Range kAll = {0, 0};
  if (file_.get() >= 0) Unlock(kAll);
}

absl::Status LeaseFile::CannotLock() const {
  return absl::FailedPreconditionError(absl::StrCat(path_, ": cannot lock: ", std::strerror(errno),
                                                    "; name a folder on a local disk with ATTUNE_LEASES"));
}

absl::StatusOr<bool> LeaseFile::TryLock(Lock lock, Range range) {
  struct flock description = Description(TypeOf(lock), range);
  if (fcntl(file_.get(), F_OFD_SETLK, &description) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return CannotLock();
}

void LeaseFile::Unlock(Range range) {
  struct flock description = Description(F_UNLCK, range);
  fcntl(file_.get(), F_OFD_SETLK, &description);
}

absl::StatusOr<std::vector<LeaseFile::Range>> LeaseFile::Obstacles(Lock lock, Range range) const {
  std::vector<Range> obstacles;
  std::vector<Range> open = {range};
  while (!open.empty()) {
    const Range part = open.back();
    open.pop_back();
    if (part.count == 0) continue;
    struct flock found = Description(TypeOf(lock), part);
    if (fcntl(file_.get(), F_OFD_GETLK, &found) != 0) return CannotLock();
    if (found.l_type == F_UNLCK) continue;
    const int64_t end = part.first + part.count;
    const int64_t found_end =
        found.l_len == 0 ? std::numeric_limits<int64_t>::max() : found.l_start + found.l_len;
    const int64_t first = std::max<int64_t>(part.first, found.l_start), last = std::min(end, found_end);
    obstacles.push_back({first, last - first});
    open.push_back({part.first, first - part.first});
    open.push_back({last, end - last});
  }
  return obstacles;
}

bool LeaseFile::IsCurrent() const {
  struct stat own = {}, there = {};
  return fstat(file_.get(), &own) == 0 && lstat(path_.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
         own.st_ino == there.st_ino;
}

}  // namespace attune
