// Tuning a network on this machine: the stages are run one by one by whoever drives the job.
//
//   ASSIGN_OR_RETURN(const auto tuner, NetworkTuner::Create(network.Optimize(), {}));
//   while (tuner->job().Next().has_value()) RETURN_IF_ERROR(tuner->RunStage());
//   RETURN_IF_ERROR(tuner->Compile().Save("model.atn").status());
//
// The program's main() calls RunIfWorker() first, since candidates are built and run in processes of the same
// program.
#ifndef ATTUNE_API_TUNING_H_
#define ATTUNE_API_TUNING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/network.h"
#include "tune/cost_model/transfer_samples.h"
#include "tune/job/events.h"
#include "tune/job/recording.h"
#include "tune/job/report.h"
#include "tune/job/tuning_job.h"
#include "tune/job/workers.h"
#include "tune/records/active_run.h"
#include "tune/records/database.h"

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
absl::StatusOr<std::string> LearnCostModel(const std::string& path, TransferOptions options,
                                           const std::vector<Network>& without);

// The config spaces of a network's tasks, for people.
absl::StatusOr<std::string> DescribeSpaces(const Network& network);

// Not thread safe, but for job().Cancel().
class NetworkTuner {
 public:
  // Of a network that was optimized. A run of the same network and options that was killed goes on.
  static absl::StatusOr<std::unique_ptr<NetworkTuner>> Create(const Network& network,
                                                              const TuneOptions& options);
  ~NetworkTuner();

  TuningJob& job() { return *job_; }
  // Runs the job's next stage, once it has all that it needs of this machine: other jobs, of other processes
  // too, may have it now.
  absl::Status RunStage();

  EventLog& events();
  const ActiveRun& run() const { return run_; }
  const std::string& records_path() const;
  // Null unless one is replayed.
  const Recording* recording() const;

  // The network as it was tuned until now.
  Network Compile() const;

 private:
  struct Tools;
  NetworkTuner(std::unique_ptr<Tools> tools, ActiveRun run);

  std::unique_ptr<Tools> tools_;
  ActiveRun run_;
  std::unique_ptr<TuningJob> job_;
};

}  // namespace attune

#endif  // ATTUNE_API_TUNING_H_
