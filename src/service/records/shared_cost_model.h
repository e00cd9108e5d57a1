// The cost model that the jobs of a server share: it learns from their records, and new jobs begin with it.
//
// Problem: each job learns anew what others have measured, and a model that learned something wrong would
// slow down all of them. Idea: records of tenants who consent, on devices that are trusted, are gathered.
// After `new_records` new ones, a model learns from all tasks but some that are held back, by their digests;
// how well it ranks those decides whether it takes the place of the one before. Cost: a fifth of the tasks
// teach nothing.
#ifndef ATTUNE_SERVICE_RECORDS_SHARED_COST_MODEL_H_
#define ATTUNE_SERVICE_RECORDS_SHARED_COST_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "service/records/cost_model_store.h"
#include "target/target.h"
#include "tune/cost_model/cost_model.h"
#include "tune/records/database.h"

namespace attune {

struct SharedCostModelOptions {
  int64_t every = 1000;       // new records after which a version is learned
  int64_t most_tasks = 200;   // the latest ones, from which it learns and by which it is judged
  size_t most_records = 128;  // of each task and device, the latest
};

// Whether the task with this digest judges models, and teaches none. The same everywhere and for ever.
bool IsHeldBack(const std::string& task_digest);

// Whether the text is a cost model that jobs of this program can begin with.
bool IsUsable(const std::string& text);

// For one thread; the store is thread safe.
class SharedCostModel {
 public:
  // `store` has the records that were gathered so far, and must outlive it.
  explicit SharedCostModel(CostModelStore& store, const SharedCostModelOptions& options = {},
                           const Clock& clock = SystemClock())
      : store_(store), options_(options), clock_(clock) {}

  // Gathers the tenant's records of these devices (fingerprints) and no others. `devices`: all that are
  // trusted, each with its target, here and below.
  absl::Status Gather(const std::string& tenant, RecordDatabase& from,
                      const std::map<std::string, Target>& devices);
  // Learns from all records that are there now, if enough are new. Returns whether it has.
  absl::StatusOr<bool> LearnIfDue(const std::map<std::string, Target>& devices);

 private:
  struct Samples {
    std::vector<TaskSamples> taught, held_back;
  };
  absl::StatusOr<Samples> SamplesOf(const std::map<std::string, Target>& devices);
  absl::Status Learn(const std::map<std::string, Target>& devices, int64_t records);

  CostModelStore& store_;
  const SharedCostModelOptions options_;
  const Clock& clock_;
  // The new records when it was last due, and there was nothing to learn from or no tasks to judge by.
  int64_t in_vain_ = 0;
};

// Kendall's tau between the model's order and the measured one, in the mean over the tasks. Nothing if there
// is no task with two different times.
std::optional<double> RankingOf(const CostModel& model, std::span<const TaskSamples> tasks);

}  // namespace attune

#endif  // ATTUNE_SERVICE_RECORDS_SHARED_COST_MODEL_H_
