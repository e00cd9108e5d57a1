// The times of a task's candidates in this run: which is the best, and which are confirmed.
#ifndef ATTUNE_TUNE_JOB_TASK_TIMES_H_
#define ATTUNE_TUNE_JOB_TASK_TIMES_H_

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "measure/blob.h"
#include "tune/task/candidate_space.h"

namespace attune {

// The kernel that all candidates of a task are compared with, built from the analytic default config.
struct Baseline {
  Blob kernel;
  std::string code_digest;
  double seconds = 0;  // in this run, > 0
};

// Not thread safe.
class TaskTimes {
 public:
  // `analytic_default` is the candidate that the baseline is built from.
  explicit TaskTimes(Candidate analytic_default) : default_(std::move(analytic_default)) {}

  void SetBaseline(Baseline baseline) { baseline_ = std::move(baseline); }
  // Adds the time of a candidate; returns whether it is the best so far.
  bool Add(const Candidate& candidate, double seconds);
  // Adds the time of a candidate that was measured again, and whether it is significantly faster than the
  // baseline. The digest of its code is empty if there is none.
  void Confirm(const Candidate& candidate, double seconds, bool is_faster, const std::string& code_digest);

  // The kernel to interleave candidates with; nothing until the baseline is measured in this run.
  const std::optional<Baseline>& baseline() const { return baseline_; }
  // 0 if there is no baseline.
  double baseline_seconds() const { return baseline_.has_value() ? baseline_->seconds : 0; }
  const std::optional<Candidate>& best() const { return best_; }
  double best_seconds() const { return best_seconds_; }
  // The least time of any candidate, also of one that was not confirmed; 0 if there is none.
  double least_seconds() const;
  // Whether there is a best candidate besides the baseline.
  bool is_tuned() const { return best_.has_value() && *best_ != default_; }

  // Candidates to confirm: those not passed to Confirm() yet that are faster than the baseline and than all
  // confirmed ones, fastest first, at most `most`; if nothing is confirmed and there are none, the one that
  // an earlier run has confirmed.
  std::vector<Candidate> ToConfirm(size_t most, const std::optional<Candidate>& confirmed_before) const;
  // The digests of the code of the baseline and of the best; nothing unless the best is confirmed and not
  // the baseline.
  struct Code {
    std::string baseline, best;
  };
  std::optional<Code> ConfirmedCode() const;

 private:
  struct Confirmation {
    bool is_faster = false;  // than the baseline
    std::string code_digest;
  };

  Candidate default_;
  std::unordered_map<Candidate, double, CandidateHash> times_;
  std::unordered_map<Candidate, Confirmation, CandidateHash> confirmed_;
  std::optional<Baseline> baseline_;
  std::optional<Candidate> best_;
  double best_seconds_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TASK_TIMES_H_
