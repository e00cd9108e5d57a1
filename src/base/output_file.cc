#include "base/output_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/sync.h"

namespace attune {
namespace {

constexpr size_t kBufferBytes = 1 << 16;
constexpr int kWrite = O_WRONLY | O_CLOEXEC | O_NOCTTY;
constexpr mode_t kNewMode = 0666;  // the system takes the umask's bits away
constexpr mode_t kOwnersMode = 0600;

// The end of a chain of symbolic links, even if nothing exists there yet.
std::filesystem::path BehindLinks(std::filesystem::path path) {
  constexpr int kMaxLinks = 40;  // as in the system
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code is_no_link;
    const std::filesystem::path next = std::filesystem::read_symlink(path, is_no_link);
    if (is_no_link) break;
    path = path.parent_path() / next;  // `next` alone where it is absolute
  }
  return path;
}

// Which of this process's stdout and stderr goes to that file; -1 if neither does.
int StreamTo(const struct stat& file) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat info;
    if (fstat(stream, &info) == 0 && info.st_dev == file.st_dev && info.st_ino == file.st_ino) return stream;
  }
  return -1;
}

// A name beside `target` that no other file of any process has.
std::string NameBeside(const std::string& target) {
  static std::atomic<int> count = 0;
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return absl::StrCat(target, ".tmp-", getpid(), "-", count.fetch_add(1), "-", now.tv_nsec);
}

// While it lives, signals that interrupt the process are delayed, provided that this thread is its only
// one.
class InterruptsWait {
 public:
  InterruptsWait() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  InterruptsWait(const InterruptsWait&) = delete;
  InterruptsWait& operator=(const InterruptsWait&) = delete;
  ~InterruptsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// An error that describes errno.
absl::Status CannotWrite(const std::string& path) {
  const int error = errno;
  const std::string message = absl::StrCat(path, ": cannot write: ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(message) : absl::FailedPreconditionError(message);
}

// Opens a file that is written straight through, or with O_APPEND a file of any kind. `info` describes what
// exists at the path, if anything. Does not wait for a reader of a pipe, who may never come.
absl::StatusOr<FileDescriptor> OpenThrough(const std::string& path, const struct stat* info, int flags) {
  const int stream = info == nullptr ? -1 : StreamTo(*info);
  if (stream >= 0) {
    FileDescriptor file(fcntl(stream, F_DUPFD_CLOEXEC, 0));
    if (file.get() < 0) return CannotWrite(path);
    return file;
  }
  FileDescriptor file(open(path.c_str(), kWrite | O_NONBLOCK | flags, kNewMode));
  if (file.get() < 0 && errno == ENXIO && info != nullptr && S_ISFIFO(info->st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": cannot write: it is a pipe without a reader; start its reader first"));
  }
  if (file.get() < 0) return CannotWrite(path);
  // From here on, a write may wait for the reader, which exists.
  if (fcntl(file.get(), F_SETFL, fcntl(file.get(), F_GETFL) & ~O_NONBLOCK) != 0) return CannotWrite(path);
  return file;
}

std::string LinkTo(const FileDescriptor& file) { return absl::StrCat("/proc/self/fd/", file.get()); }

}  // namespace

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path, FileAccess access) {
  std::unique_ptr<OutputFile> file(new OutputFile(path, access));
  RETURN_IF_ERROR(file->Open());
  return file;
}

absl::Status OutputFile::Check(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    // Opening it would have a side effect: the reader of a pipe would see its end.
    return access(path.c_str(), W_OK) == 0 ? absl::OkStatus() : CannotWrite(path);
  }
  return Create(path).status();
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status OutputFile::Open() {
  if (path_.empty()) return InvalidInput("no file to write is named");
  struct stat info;
  const bool exists = stat(path_.c_str(), &info) == 0;
  if (exists && (!S_ISREG(info.st_mode) || StreamTo(info) >= 0)) {
    ASSIGN_OR_RETURN(file_, OpenThrough(path_, &info, 0));
    return absl::OkStatus();
  }
  target_ = BehindLinks(path_);
  RETURN_IF_ERROR(OpenTemporary());
  if (!exists) return absl::OkStatus();
  // Set the owner first, since changing it clears bits of the mode. Only a privileged process may change
  // it.
  if (fchown(file_.get(), info.st_uid, info.st_gid) != 0 && errno != EPERM) return CannotWrite(path_);
  const mode_t kept = access_ == FileAccess::kOwner ? kOwnersMode : 0777;
  return fchmod(file_.get(), info.st_mode & kept) == 0 ? absl::OkStatus() : CannotWrite(path_);
}

// The system itself removes a file without a name, however this process ends. Some file systems do not
// support such files.
absl::Status OutputFile::OpenTemporary() {
  const mode_t mode = access_ == FileAccess::kOwner ? kOwnersMode : kNewMode;
  const std::string folder = std::filesystem::path(target_).parent_path();
  file_ = FileDescriptor(open(folder.empty() ? "." : folder.c_str(), kWrite | O_TMPFILE, mode));
  if (file_.get() >= 0 && access(LinkTo(file_).c_str(), F_OK) == 0) return absl::OkStatus();
  temporary_ = NameBeside(target_);
  file_ = FileDescriptor(open(temporary_.c_str(), kWrite | O_CREAT | O_EXCL, mode));
  if (file_.get() >= 0) return absl::OkStatus();
  temporary_.clear();
  return CannotWrite(path_);
}

absl::Status OutputFile::Write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() < kBufferBytes) {
    buffer_.append(bytes);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(Drain(std::exchange(buffer_, "")));
  return Drain(bytes);
}

absl::Status OutputFile::Drain(std::string_view bytes) {
  return WriteAll(file_, bytes) ? absl::OkStatus() : CannotWrite(path_);
}

absl::Status OutputFile::Finish() {
  RETURN_IF_ERROR(Drain(std::exchange(buffer_, "")));
  // Pipes and many devices cannot be synced.
  if (fsync(file_.get()) != 0 && errno != EINVAL && errno != EROFS) return CannotWrite(path_);
  if (target_.empty()) return absl::OkStatus();
  const InterruptsWait until_renamed;
  if (temporary_.empty()) {
    const std::string link = LinkTo(file_);
    const auto name = [&link](const std::string& as) {
      return linkat(AT_FDCWD, link.c_str(), AT_FDCWD, as.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    if (name(target_)) return SyncName();
    // Only a file with a name can replace another file.
    if (errno != EEXIST) return CannotWrite(path_);
    std::string beside = NameBeside(target_);
    if (!name(beside)) return CannotWrite(path_);
    temporary_ = std::move(beside);
  }
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return CannotWrite(path_);
  temporary_.clear();
  return SyncName();
}

// A file that only its owner may read is a secret to which something else, far away or in a database, refers.
absl::Status OutputFile::SyncName() const {
  if (access_ != FileAccess::kOwner) return absl::OkStatus();
  const std::string folder = std::filesystem::path(target_).parent_path();
  return SyncFolder(folder.empty() ? "." : folder);
}

absl::StatusOr<FileDescriptor> OpenToAppend(const std::string& path) {
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  return OpenThrough(path, exists ? &info : nullptr, O_APPEND | O_CREAT);
}

bool SharesStdout(const std::string& path) {
  struct stat info, out;
  return stat(path.c_str(), &info) == 0 && fstat(STDOUT_FILENO, &out) == 0 && info.st_dev == out.st_dev &&
         info.st_ino == out.st_ino && !S_ISCHR(out.st_mode);
}

bool WriteAll(const FileDescriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace attune
