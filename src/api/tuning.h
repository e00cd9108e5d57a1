// Tuning a network on this machine: the stages are run one by one by whoever drives the job.
//
//   ASSIGN_OR_RETURN(const auto tuner, NetworkTuner::Create(network.Optimize(), {}));
//   while (tuner->job().Next().has_value()) RETURN_IF_ERROR(tuner->job().RunNext());
//   RETURN_IF_ERROR(tuner->Compile().Save("model.atn").status());
//
// The program's main() calls RunIfWorker() first, since candidates are built and run in processes of the same
// program.
#ifndef ATTUNE_API_TUNING_H_
#define ATTUNE_API_TUNING_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/network.h"
#include "device/host.h"
#include "measure/local_measurer.h"
#include "tune/cost_model/transfer_samples.h"
#include "tune/job/events.h"
#include "tune/job/job.h"
#include "tune/job/report.h"
#include "tune/job/workers.h"
#include "tune/records/active_run.h"
#include "tune/records/database.h"
#include "tune/task/local_builder.h"

namespace attune {

struct TuneOptions {
  TuningOptions tuning;
  std::string records;     // the database; empty: the default one, which is made where it is missing
  std::string events;      // the file of events; empty: none
  std::string replay;      // the file of another run's events, whose times are believed; empty: none
  std::string device;      // the key of its records; empty: DeviceFingerprint()
  bool use_model = true;   // whether a cost model is learned and asked
  std::string cost_model;  // the file of the one to begin with; empty: the one of this program; "none": none
};

// A cost model that has learned from the records of `path` (empty: the default ones) that `options` say, as a
// text; without those of the tasks of these networks.
absl::StatusOr<std::string> LearnCostModel(const std::string& path, LessonOptions options,
                                           const std::vector<Network>& without);

// The config spaces of a network's tasks, for people.
absl::StatusOr<std::string> DescribeSpaces(const Network& network);

// Not thread safe, but for job().Stop().
class NetworkTuner {
 public:
  // Of a network that was optimized. A run of the same network and options that was killed goes on.
  static absl::StatusOr<std::unique_ptr<NetworkTuner>> Create(const Network& network,
                                                              const TuneOptions& options);

  TuningJob& job() { return *job_; }
  EventLog& events() { return *events_; }
  const ActiveRun& run() const { return run_; }
  const std::string& records_path() const { return records_->path(); }
  // Null unless one is replayed.
  const Recording* recording() const { return recording_.get(); }

  // The network as it was tuned until now.
  Network Compile() const;

 private:
  NetworkTuner(Network network, Target target, std::unique_ptr<RecordDatabase> records,
               std::unique_ptr<EventLog> events, ActiveRun run);

  // What the job asks of the whole network, on so many threads.
  void Provide(TuningTools& tools, int threads);
  // By the configs that are given, for the tasks that have one.
  Network CompileWith(const std::map<std::string, Candidate>& configs, const BlockFlips& flips) const;
  // With other blocks for one class of maps.
  absl::StatusOr<LayoutTrial> TryLayout(int block_class, const std::map<std::string, Candidate>& best,
                                        int threads, std::optional<bool> is_adopted);

  Network network_;
  Target target_;
  std::unique_ptr<RecordDatabase> records_;
  std::unique_ptr<EventLog> events_;
  ActiveRun run_;
  int block_classes_ = 0;
  BlockFlips flips_;  // that are known to be faster
  std::unique_ptr<CostModel> model_;
  std::unique_ptr<LocalBuilder> builder_;
  std::unique_ptr<LocalMeasurer> measurer_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<TuningJob> job_;
};

}  // namespace attune

#endif  // ATTUNE_API_TUNING_H_
