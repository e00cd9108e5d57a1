// The folder of a sweep: what is done, and where each run keeps its files.
//
// Problem: the program may be killed at any moment, and must know afterwards what is done. Idea: there is no
// state beside the results. Each command of a run writes its result, a file of JSON, at its end and as a
// whole; so a command is done if its result is there. A run that has failed has a file with the reason.
//
//   sweep.json           the plan
//   results.csv          a line for each run, made anew from the files below after each of them
//   records.db           if all runs share their records
//   fleet/               the server and the agents of the sweep
//   runs/ID/             for each run:
//     quantize.json, tune.json, compile.json, bench.json    the results
//     log.txt, events.jsonl, records.db, tune.html, model.onnx, plan.json, network.atn
//     failure.json       if it has failed
#ifndef ATTUNE_SWEEP_SWEEP_FOLDER_H_
#define ATTUNE_SWEEP_SWEEP_FOLDER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"
#include "sweep/sweep_plan.h"

namespace attune {

struct SweepFailure {
  std::string command, reason;
};

class SweepFolder {
 public:
  // Makes the folder, or resumes the sweep that is there, which must be the same but for its ids. Until the
  // end of this object, no other process can. Errors name the folder, and say the way out.
  static absl::StatusOr<SweepFolder> BeginOrResume(const std::string& path, const SweepPlan& wanted);
  // Returns the same as BeginOrResume(), but changes nothing.
  static absl::StatusOr<SweepFolder> Preview(const std::string& path, const SweepPlan& wanted);
  // Opens the folder to read the results; another process may be at work in it.
  static absl::StatusOr<SweepFolder> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const SweepPlan& plan() const { return plan_; }
  bool is_resumed() const { return is_resumed_; }

  std::string ResultsPath() const { return path_ + "/results.csv"; }
  std::string FleetFolder() const { return path_ + "/fleet"; }
  std::string FileOf(const SweepRun& run, const std::string& name) const;
  // The database that the run's commands use.
  std::string RecordsOf(const SweepRun& run) const;
  std::string ResultOf(const SweepRun& run, const std::string& command) const;

  // Whether the command is done.
  bool IsDone(const SweepRun& run, const std::string& command) const;
  // The next command of the run; nothing if all are done.
  std::optional<size_t> NextCommand(const SweepRun& run) const;
  std::optional<SweepFailure> FailureOf(const SweepRun& run) const;

  // Makes the run's folder, and removes what is left of a result of the command that does not count. Tuning
  // that was killed resumes with its records and events. If it had come to its end, but was killed before it
  // could write its result, it begins anew without them: it cannot be resumed, and would learn from itself.
  absl::Status Prepare(const SweepRun& run, const std::string& command) const;
  absl::Status Fail(const SweepRun& run, const SweepFailure& failure) const;
  absl::Status ForgetFailure(const SweepRun& run) const;

 private:
  SweepFolder(std::string path, SweepPlan plan, FileDescriptor lock, bool is_resumed)
      : path_(std::move(path)), plan_(std::move(plan)), lock_(std::move(lock)), is_resumed_(is_resumed) {}

  std::string path_;
  SweepPlan plan_;
  FileDescriptor lock_;
  bool is_resumed_;
};

}  // namespace attune

#endif  // ATTUNE_SWEEP_SWEEP_FOLDER_H_
