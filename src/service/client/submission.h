// Makes of jobs that a person describes what a server is sent: settings without paths of this machine, and
// the files that they name.
#ifndef ATTUNE_SERVICE_CLIENT_SUBMISSION_H_
#define ATTUNE_SERVICE_CLIENT_SUBMISSION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/progress.h"
#include "nlohmann/json.hpp"
#include "work/job/job_spec.h"

namespace attune {

// A file of this machine whose bytes had a digest when it was read.
struct SourceFile {
  std::string path;
  int64_t bytes = 0;
};

struct PreparedSubmission {
  std::vector<nlohmann::ordered_json> jobs;   // as the server's NewJob
  std::map<std::string, SourceFile> sources;  // by their digests: all inputs of all jobs
};

// A job's id becomes a name of letters, digits and "._-". An input of a job's kind (work/job/kind.h) becomes
// a name below in/: in/SETTING/NAME for a file, and in/SETTING/NAME/… for each file below a folder. Outputs
// get names below out/. Reads all files. Errors name the job and the setting: one that is wrong or refused on
// a server, an output with a path, a file that cannot be read, is no file or is a link that leads out of its
// folder.
absl::StatusOr<PreparedSubmission> PrepareSubmission(const std::vector<JobSpec>& jobs,
                                                     const WorkControl& control = {});

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_SUBMISSION_H_
