// One tuning job that is over, as predictions and known answers remember it.
#ifndef ATTUNE_SERVICE_AGREEMENT_OBSERVATION_H_
#define ATTUNE_SERVICE_AGREEMENT_OBSERVATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "device/peaks.h"
#include "nlohmann/json.hpp"
#include "service/agreement/promise.h"
#include "work/store/stage_log.h"

namespace attune {

struct TaskTime {
  std::string task = {};    // its digest
  std::string kind = {};    // KindOfTask()
  std::string kernel = {};  // the digest of the best kernel's code
  int uses = 1;
  double flops = 0;
  // Seconds of one execution: the usual ones by the roofline, which are no bound, or kLeastTaskSeconds;
  // untuned; and with the best kernel.
  double bound = 0, untuned = 0, tuned = 0;
};

// The least that is predicted for any task.
inline constexpr double kLeastTaskSeconds = 5e-9;

// The operator that dominates, from the task's description: "conv" of "conv+bias+relu f32[1,64,56,56] …".
std::string KindOfTask(std::string_view description);

// How much work a tuning job was given. 0: no limit.
struct TuningPlan {
  double trials = 0, seconds = 0;
  double tasks = 0;  // of the network
};
TuningPlan PlanOfSettings(const nlohmann::json& settings, size_t tasks);

struct Observation {
  std::string job = {}, tenant = {};
  int64_t ended_ms = 0;

  std::string network = {};    // GraphDigest()
  std::string interface = {};  // Network::Interface()
  std::string device = {};     // the fingerprint
  int threads = 1;
  std::string compiler = {}, kernels = {};  // its version; the digest of all kernels
  Peaks peaks = {};

  int64_t runs = 0;
  PromiseRange mean_ms = {}, p99_ms = {};  // the ends of 95 % intervals, and the value between
  std::vector<TaskTime> tasks = {};

  std::string files_owner = {};                 // with the server's files
  JobFile artifact = {};                        // without a name: there is none
  double artifact_bytes = 0, weight_bytes = 0;  // 0: unknown

  // The time that it took, and what was estimated when it was submitted; 0: nothing was.
  TuningPlan plan = {};
  double work_seconds = 0, finish_seconds = 0;  // of its stages; from the submission to the end
  double queue_seconds = 0;                     // of the jobs before it, as estimated
};

// The observation that a job leaves; NotFound if it leaves none: it is not done, or no network was judged. It
// has the artifact only if the job's agreement tells that this network is the one of its model: a job's
// claims about itself answer no request. Fails if the agreement tells that it is another one.
absl::StatusOr<Observation> ObservationOf(const JobRecord& job);

nlohmann::json ToJson(const Observation& observation);
// Reads what ToJson() has written.
absl::StatusOr<Observation> ObservationOfJson(const nlohmann::json& json);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_OBSERVATION_H_
