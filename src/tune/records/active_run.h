// A tuning run that is alive, and how a killed run is resumed.
//
// Problem: in the database, a run that was killed looks like one that another process works on: both are
// marked as running. Idea: the process that works on a run holds a lock, one byte of a file beside the
// database, which the system releases when the process ends, however it ends.
#ifndef ATTUNE_TUNE_RECORDS_ACTIVE_RUN_H_
#define ATTUNE_TUNE_RECORDS_ACTIVE_RUN_H_

#include <utility>

#include "absl/status/statusor.h"
#include "base/process/worker_process.h"
#include "tune/records/database.h"
#include "tune/records/record.h"

namespace attune {

// Movable; the lock moves with it.
class ActiveRun {
 public:
  // Resumes the newest killed run that equals `wanted` except for id and start: same model, device, threads
  // and options. If there is none, enters `wanted` as a new run with its own id.
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
