// A tuning run while it is alive, and what becomes of one that was killed.
//
// Problem: a run that was killed is in the database as running, as is one that another process works on.
// Idea: whoever works on a run holds a lock, one byte of a file beside the database, which the system lets go
// when the process ends, however it ends.
#ifndef ATTUNE_TUNE_RECORDS_ACTIVE_RUN_H_
#define ATTUNE_TUNE_RECORDS_ACTIVE_RUN_H_

#include <utility>

#include "absl/status/statusor.h"
#include "base/process/worker_process.h"
#include "tune/records/database.h"
#include "tune/records/record.h"

namespace attune {

// Movable; the lock goes with it.
class ActiveRun {
 public:
  // Goes on with the newest run that was killed and was the same as `wanted` but for id and start: its model,
  // device, threads and options. Where there is none, enters `wanted` as a new run, under the id that it has.
  static absl::StatusOr<ActiveRun> ResumeOrBegin(RecordDatabase& records, const TuningRun& wanted);

  const TuningRun& run() const { return run_; }
  bool is_resumed() const { return is_resumed_; }

 private:
  ActiveRun(TuningRun run, FileDescriptor lock, bool is_resumed)
      : run_(std::move(run)), lock_(std::move(lock)), is_resumed_(is_resumed) {}

  TuningRun run_;
  FileDescriptor lock_;
  bool is_resumed_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_ACTIVE_RUN_H_
