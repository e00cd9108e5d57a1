#include "tune/records/active_run.h"

#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/sqlite/active_lock.h"
#include "base/status.h"

namespace attune {
namespace {

bool IsSameWork(const TuningRun& a, const TuningRun& b) {
  return a.model == b.model && a.model_digest == b.model_digest && a.device == b.device &&
         a.threads == b.threads && a.options == b.options;
}

absl::StatusOr<RunState> StateOf(RecordDatabase& records, const std::string& id) {
  ASSIGN_OR_RETURN(const std::vector<TuningRun> runs, records.Runs());
  for (const TuningRun& run : runs) {
    if (run.id == id) return run.state;
  }
  return RunState::kFinished;  // another program has removed the run
}

}  // namespace

absl::StatusOr<ActiveRun> ActiveRun::ResumeOrBegin(RecordDatabase& records, const TuningRun& wanted) {
  TuningRun normalized = wanted;
  RETURN_IF_ERROR(Normalize(normalized));
  ASSIGN_OR_RETURN(const std::vector<TuningRun> runs, records.Runs());
  for (const TuningRun& run : runs) {
    if (run.state != RunState::kRunning || !IsSameWork(run, normalized)) continue;
    ASSIGN_OR_RETURN(FileDescriptor lock, LockActive(records.path(), run.id));
    if (lock.get() < 0) continue;
    // It may have ended after the query and before we got the lock.
    ASSIGN_OR_RETURN(const RunState state, StateOf(records, run.id));
    if (state == RunState::kRunning) return ActiveRun(run, std::move(lock), /*is_resumed=*/true);
  }
  ASSIGN_OR_RETURN(FileDescriptor lock, LockActive(records.path(), normalized.id));
  RETURN_IF_ERROR(records.BeginRun(normalized));
  return ActiveRun(std::move(normalized), std::move(lock), /*is_resumed=*/false);
}

}  // namespace attune
