#include "service/client/pending_submission.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/private_file.h"
#include "base/status.h"
#include "base/user_path.h"

namespace attune {
namespace {

constexpr size_t kKeyBytes = 32;

std::string NewKey() {
  std::random_device random;
  std::string key;
  constexpr int kWords = 4;
  for (int i = 0; i < kWords; ++i) absl::StrAppendFormat(&key, "%08x", random());
  return key;
}

// The key that the file has; empty: it has none that counts.
std::string KeptKey(const FileDescriptor& file) {
  struct stat facts = {};
  constexpr time_t kWeekSeconds = 7 * 86'400;
  std::array<char, kKeyBytes> key = {};
  if (fstat(file.get(), &facts) != 0 || facts.st_mtime < std::time(nullptr) - kWeekSeconds) return "";
  if (pread(file.get(), key.data(), key.size(), 0) != std::ssize(key)) return "";
  return {key.data(), key.size()};
}

}  // namespace

absl::StatusOr<std::string> PendingSubmission::DefaultFolder(
    const std::function<const char*(const char*)>& environment) {
  std::optional<std::string> folder = FindUserPath({.variable = "ATTUNE_SUBMISSIONS",
                                                    .xdg_variable = "XDG_STATE_HOME",
                                                    .home_folder = ".local/state",
                                                    .name = "attune/submissions"},
                                                   environment);
  if (folder) return *std::move(folder);
  return absl::NotFoundError(
      "there is no home folder to keep submissions in; name one with ATTUNE_SUBMISSIONS");
}

absl::StatusOr<PendingSubmission> PendingSubmission::Begin(const std::string& folder,
                                                           const std::string& name) {
  RETURN_IF_ERROR(MakePrivateFolder(folder));
  const std::string path = absl::StrCat(folder, "/", Sha256Hex(name));
  constexpr mode_t kOwner = 0600;
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwner));
  if (file.get() < 0)
    return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be opened: ", std::strerror(errno)));
  PendingSubmission pending(path, std::move(file));
  if (flock(pending.file_.get(), LOCK_EX | LOCK_NB) != 0) {
    pending.path_.clear();
    pending.key_ = NewKey();
    return pending;
  }
  pending.key_ = KeptKey(pending.file_);
  pending.is_repeated_ = !pending.key_.empty();
  if (pending.is_repeated_) return pending;
  pending.key_ = NewKey();
  const bool is_kept = ftruncate(pending.file_.get(), 0) == 0 &&
                       lseek(pending.file_.get(), 0, SEEK_SET) == 0 &&
                       WriteAll(pending.file_, pending.key_) && fsync(pending.file_.get()) == 0;
  if (is_kept) return pending;
  return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
}

std::string PendingSubmission::KeyOf(const std::string& content) const {
  constexpr size_t kDigits = 32;
  return absl::StrCat(key_, "-", Sha256Hex(content).substr(0, kDigits));
}

void PendingSubmission::Forget() {
  if (path_.empty()) return;
  // Another process may have opened it already, and wait for the lock.
  const bool is_emptied = ftruncate(file_.get(), 0) == 0;
  if (unlink(path_.c_str()) == 0 || is_emptied) path_.clear();
}

}  // namespace attune
