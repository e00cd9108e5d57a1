#include "base/sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/file_descriptor.h"

namespace attune {
namespace {

std::atomic<SyncWatch> sync_watch = nullptr;

absl::Status Sync(const std::string& path, int flags) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  // Some file systems, which are read only or far away, sync no folders.
  if (file.get() < 0 || (fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS)) {
    const std::string message = absl::StrCat(path, ": cannot be synced: ", std::strerror(errno));
    return errno == ENOSPC || errno == EDQUOT ? absl::ResourceExhaustedError(message)
                                              : absl::UnavailableError(message);
  }
  if (const SyncWatch watch = sync_watch.load()) watch(path);
  return absl::OkStatus();
}

}  // namespace

absl::Status SyncFile(const std::string& path) { return Sync(path, O_NOFOLLOW); }

absl::Status SyncFolder(const std::string& path) { return Sync(path, O_DIRECTORY); }

SyncWatch SetSyncWatch(SyncWatch watch) { return sync_watch.exchange(watch); }

}  // namespace attune
