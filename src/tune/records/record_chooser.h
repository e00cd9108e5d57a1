// Chooses kernels from records: the fastest config measured for a task, or for a similar one.
#ifndef ATTUNE_TUNE_RECORDS_RECORD_CHOOSER_H_
#define ATTUNE_TUNE_RECORDS_RECORD_CHOOSER_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plan/chooser.h"
#include "tune/records/database.h"
#include "tune/task/task.h"

namespace attune {

// Thread safe. Records that do not fit, because the strategy is gone or its knobs have changed, are
// ignored. If a task has no records, those of the most similar task are used, provided they are confirmed
// and the task is very similar: the config is moved to the nearest one in this task's space.
class RecordChooser final : public KernelChooser {
 public:
  // Loads the best records of `device` for the current versions of the strategies: those with this number
  // of threads, or for tasks without any, those with other numbers. If `run` is not empty, only records of
  // that run.
  static absl::StatusOr<RecordChooser> Load(RecordDatabase& database, const std::string& device, int threads,
                                            const std::string& run = "");
  // Chooses these configs, by task.
  explicit RecordChooser(std::map<std::string, Candidate> best);
  ~RecordChooser() override;
  RecordChooser(RecordChooser&&) noexcept;

  // Adds to each choice the digest of the run's latest record of this config, so that what is compiled names
  // its records. The choices stay what they are.
  absl::Status NameRecords(RecordDatabase& database, const std::string& run);

  absl::StatusOr<KernelChoice> Choose(const Workload& workload, const std::string& task,
                                      const Target& target) const override;
  // Only from confirmed records with the same number of threads.
  double SecondsOf(const std::string& task) const override;

  size_t size() const { return best_.size(); }

 private:
  class Neighbours;

  struct Known {
    Candidate candidate;
    std::string code_digest;  // empty: unknown
    std::string record;       // digest of the record; empty: not from a record
    double seconds = 0;       // within a network; 0: unknown
  };
  std::map<std::string, Known> best_;  // by task
  std::unique_ptr<Neighbours> neighbours_;
};

// The strategies of this program and their versions. Records of other versions are priors.
StrategyVersions CurrentStrategyVersions();

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_RECORD_CHOOSER_H_
