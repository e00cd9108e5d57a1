// Writes the trials of a tuning run to the database, and its events.
#ifndef ATTUNE_TUNE_JOB_TRIAL_LOG_H_
#define ATTUNE_TUNE_JOB_TRIAL_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "measure/item.h"
#include "nlohmann/json.hpp"
#include "tune/job/options.h"
#include "tune/job/tuning_tools.h"
#include "tune/records/record.h"
#include "tune/task/task.h"

namespace attune {

// The data to write about one measurement.
struct TrialNote {
  TrialOutcome outcome = TrialOutcome::kOk;
  Timing timing = {};
  std::string reason = {};
  std::string_view search;  // the search strategy, or kConfirmation
  std::string code_digest = {};
  double build_seconds = 0, measure_seconds = 0;
};

// Not thread safe.
class TrialLog {
 public:
  // All arguments must outlive it.
  TrialLog(const TuningOptions& options, const TuningRun& run, const TuningTools& tools)
      : options_(options), run_(run), tools_(tools) {}

  // Continues the numbers of the trials from before the run was interrupted.
  void ContinueAfter(int64_t number) { next_number_ = std::max(next_number_, number + 1); }

  // Writes a record, unless the outcome is kRetry, and an event.
  absl::Status Keep(const TuningTask& task, const Candidate& candidate, const TrialNote& note);
  absl::Status Log(std::string_view event, nlohmann::json fields) const {
    return tools_.events->Write(event, fields);
  }

  // Whether anything was measured, or failed by its own fault.
  bool has_kept() const { return has_kept_; }
  // Why measuring itself failed, the last time.
  const std::string& unmeasured() const { return unmeasured_; }
  void NoteUnmeasured(std::string reason) { unmeasured_ = std::move(reason); }

 private:
  const TuningOptions& options_;
  const TuningRun& run_;
  const TuningTools& tools_;
  int64_t next_number_ = 0;  // of the next measurement
  bool has_kept_ = false;
  std::string unmeasured_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TRIAL_LOG_H_
