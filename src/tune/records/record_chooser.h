// Kernels as records say: the fastest config that was measured for a task, or for one like it.
#ifndef ATTUNE_TUNE_RECORDS_RECORD_CHOOSER_H_
#define ATTUNE_TUNE_RECORDS_RECORD_CHOOSER_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "plan/chooser.h"
#include "tune/records/database.h"
#include "tune/task/task.h"

namespace attune {

// Any number of threads may use one. Records that do not fit, of a strategy that is gone or of knobs that
// changed, count for nothing. Where a task has none, those of the task that is most like it count if they are
// confirmed and it is very much like it: their config is moved to the nearest one here.
class RecordChooser final : public KernelChooser {
 public:
  // The best records of `device`, of strategies in the versions that this program has: by that many threads,
  // or for tasks that were measured by others alone, by those. Where `run` is not empty, of that run alone.
  static absl::StatusOr<RecordChooser> Load(RecordDatabase& database, const std::string& device, int threads,
                                            const std::string& run = "");
  // These configs, by task.
  explicit RecordChooser(std::map<std::string, Candidate> best);
  ~RecordChooser() override;
  RecordChooser(RecordChooser&&) noexcept;

  absl::StatusOr<KernelChoice> Choose(const Workload& workload, const std::string& task,
                                      const Target& target) const override;
  // Of confirmed records on that many threads alone.
  double SecondsOf(const std::string& task) const override;

  size_t size() const { return best_.size(); }

 private:
  class Neighbours;

  struct Known {
    Candidate candidate;
    std::string code_digest;  // empty: unknown
    std::string record;       // its digest; empty: it is on no record
    double seconds = 0;       // within a network; 0: unknown
  };
  std::map<std::string, Known> best_;  // by task
  std::unique_ptr<Neighbours> neighbours_;
};

// The strategies of this program. Records of other versions are priors.
StrategyVersions CurrentStrategyVersions();

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_RECORD_CHOOSER_H_
