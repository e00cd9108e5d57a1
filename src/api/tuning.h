// Tunes a network on this machine, or for a device elsewhere; the caller runs the stages of the job one by
// one:
//
//   ASSIGN_OR_RETURN(const auto tuner, NetworkTuner::Create(network.Optimize(), {}));
//   while (tuner->job().Next().has_value()) RETURN_IF_ERROR(tuner->RunStage());
//   RETURN_IF_ERROR(tuner->Compile().Save("model.atn").status());
//
// The program's main() must call RunIfWorker() first, since candidates are built and run in processes of
// the same program.
#ifndef ATTUNE_API_TUNING_H_
#define ATTUNE_API_TUNING_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/network.h"
#include "measure/service.h"
#include "tune/cost_model/transfer_samples.h"
#include "tune/job/events.h"
#include "tune/job/recording.h"
#include "tune/job/report.h"
#include "tune/job/summary_json.h"
#include "tune/job/tuning_job.h"
#include "tune/job/workers.h"
#include "tune/records/active_run.h"
#include "tune/records/database.h"

namespace attune {

struct TuneOptions {
  TuningOptions tuning;
  // Measures on a device elsewhere, which the network is tuned for; null: on this machine.
  std::shared_ptr<MeasuringService> service;
  bool compress_constants = false;  // of what NetworkTuner::Compile() returns, as in CompileOptions
};

// Learns a cost model from the records at `path` (empty: the default ones) that `options` select, without
// the records for tasks of the networks in `without`. Returns it as text.
absl::StatusOr<std::string> LearnCostModel(const std::string& path, TransferOptions options,
                                           const std::vector<Network>& without);

// Describes the config spaces of a network's tasks on the device of the options' service, for people.
absl::StatusOr<std::string> DescribeSpaces(const Network& network, const TuneOptions& options);

// Not thread safe, except for job().Cancel().
class NetworkTuner {
 public:
  // `network` must be optimized. Resumes a killed run of the same network and options, if there is one.
  static absl::StatusOr<std::unique_ptr<NetworkTuner>> Create(const Network& network,
                                                              const TuneOptions& options);
  ~NetworkTuner();

  TuningJob& job() { return *job_; }
  // Runs the job's next stage, after waiting for the resources of this machine that it needs: other jobs,
  // including jobs of other processes, may use them now.
  absl::Status RunStage();
  // Runs all stages, one after the other. Calls `on_event` with the name of the stage when something has
  // happened, one call at a time, and `on_end`, which may be empty, when the stage has ended.
  absl::Status RunStages(const std::function<void(const std::string& stage)>& on_event,
                         const std::function<void(const std::string& stage)>& on_end = {});

  EventLog& events();
  const ActiveRun& run() const { return run_; }
  const std::string& records_path() const;
  // RecordDatabase::Checkpoint()
  absl::Status CheckpointRecords();
  // Null unless a recording is replayed.
  const Recording* recording() const;

  // The network compiled with the best kernels found so far. The artifact names the records of these. Fails
  // if the records cannot be read.
  absl::StatusOr<Network> Compile() const;

 private:
  struct Tools;
  NetworkTuner(std::unique_ptr<Tools> tools, ActiveRun run);

  std::unique_ptr<Tools> tools_;
  ActiveRun run_;
  std::unique_ptr<TuningJob> job_;
};

}  // namespace attune

#endif  // ATTUNE_API_TUNING_H_
