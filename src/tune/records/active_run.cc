#include "tune/records/active_run.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/file_descriptor.h"
#include "base/status.h"

namespace attune {
namespace {

// The byte to lock for an id, which may be any text. If two ids share a byte, one of the runs just cannot
// be resumed.
off_t PlaceOf(const std::string& id) {
  constexpr size_t kDigits = 15;
  return static_cast<off_t>(std::strtoll(Sha256Hex(id).substr(0, kDigits).c_str(), nullptr, 16));
}

// A descriptor that holds the run's lock; none (-1) if another process holds it.
absl::StatusOr<FileDescriptor> Lock(const RecordDatabase& records, const std::string& id) {
  const std::string path = records.path() + "-runs";
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  struct stat info;
  if (file.get() < 0 ? errno == ELOOP : fstat(file.get(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return InvalidInput(path, ": is a link or no regular file, and so cannot mark a run as alive; remove it");
  }
  if (file.get() < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": cannot be opened to mark a run as alive: ", std::strerror(errno)));
  }
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = PlaceOf(id);
  lock.l_len = 1;
  if (fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return file;
  if (errno == EAGAIN || errno == EACCES) return FileDescriptor(-1);
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": cannot be locked to mark a run as alive: ", std::strerror(errno)));
}

bool IsSameWork(const TuningRun& a, const TuningRun& b) {
  return a.model == b.model && a.model_digest == b.model_digest && a.device == b.device &&
         a.threads == b.threads && a.options == b.options;
}

absl::StatusOr<RunState> StateOf(RecordDatabase& records, const std::string& id) {
  ASSIGN_OR_RETURN(const std::vector<TuningRun> runs, records.Runs());
  for (const TuningRun& run : runs) {
    if (run.id == id) return run.state;
  }
  return RunState::kFinished;  // somebody has removed the run
}

}  // namespace

absl::StatusOr<ActiveRun> ActiveRun::ResumeOrBegin(RecordDatabase& records, const TuningRun& wanted) {
  TuningRun normalized = wanted;
  RETURN_IF_ERROR(Normalize(normalized));
  ASSIGN_OR_RETURN(const std::vector<TuningRun> runs, records.Runs());
  for (const TuningRun& run : runs) {
    if (run.state != RunState::kRunning || !IsSameWork(run, normalized)) continue;
    ASSIGN_OR_RETURN(FileDescriptor lock, Lock(records, run.id));
    if (lock.get() < 0) continue;
    // It may have ended after the query and before we got the lock.
    ASSIGN_OR_RETURN(const RunState state, StateOf(records, run.id));
    if (state == RunState::kRunning) return ActiveRun(run, std::move(lock), /*is_resumed=*/true);
  }
  ASSIGN_OR_RETURN(FileDescriptor lock, Lock(records, normalized.id));
  RETURN_IF_ERROR(records.BeginRun(normalized));
  return ActiveRun(std::move(normalized), std::move(lock), /*is_resumed=*/false);
}

}  // namespace attune
