// The promises of a job as they stand: while it waits and runs, and once it is over.
#ifndef ATTUNE_SERVICE_AGREEMENT_PROMISES_OF_JOB_H_
#define ATTUNE_SERVICE_AGREEMENT_PROMISES_OF_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "service/agreement/outlook.h"
#include "service/agreement/promise.h"

namespace attune {

// The text that a job is stored with (JobSpec::agreement).
struct KeptAgreement {
  Agreement agreement = {};
  // As predicted at the submission.
  std::vector<Promise> promises = {};
  PromiseRange latency_ms = {}, slowest_ms = {};  // of the mean and of 99 of 100 inferences; zeros: unknown
  double bound_ms = 0;                            // neither can be below
  double queue_seconds = 0, finish_seconds = 0;   // the latter after the submission; 0: unknown
  // The facts of the job's model, once the server has imported it; empty before.
  std::string network = {}, interface = {};  // GraphDigest(), Network::Interface()

  std::string ToText() const;
  // A text of any origin that ToText() could have written.
  static absl::StatusOr<KeptAgreement> FromText(const std::string& text);
};

struct JobToday {
  std::string kind = {}, state = {};      // "waiting", "running", "done", "failed" or "cancelled"
  std::string agreement = {};             // KeptAgreement::ToText(); empty: there is none
  std::string figures = {}, result = {};  // JSON; empty: there are none
  double remaining_seconds = 0;           // predicted; 0: unknown
  int64_t submitted_ms = 0, ended_ms = 0, now_ms = 0;
};

// Empty without an agreement.
std::vector<Promise> PromisesOf(const JobToday& job);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_PROMISES_OF_JOB_H_
