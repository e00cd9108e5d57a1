// The inputs that a server gives new jobs of what it has learned from others.
#ifndef ATTUNE_SERVICE_QUEUE_START_INPUTS_H_
#define ATTUNE_SERVICE_QUEUE_START_INPUTS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "service/queue/submitted_files.h"
#include "work/store/stage_log.h"

namespace attune {

// The text becomes an input, so that all parts of a job have the same version, wherever they continue.
struct StartInputs {
  std::optional<std::string> cost_model = {};  // the text of the one that jobs share; nothing: there is none
  std::string records = {};                    // JSON lines; empty: there are none
};

// Whether the job begins with the cost model that jobs share: a tuning job that names none of its own, and
// that is not to do without.
bool WantsCostModel(const JobRecord& job);

// Makes each of the texts an input of the job, which a setting of the job then names, if the job has none of
// its own and is not to do without.
absl::Status AddStartInputs(const StartInputs& inputs, SubmittedFiles& files, JobRecord& job);

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_START_INPUTS_H_
