// The files that a job has in its folder, and which of them the server lacks.
#ifndef ATTUNE_SERVICE_RUNNER_KEPT_FILES_H_
#define ATTUNE_SERVICE_RUNNER_KEPT_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "work/job/job_spec.h"

namespace attune {

// Not thread safe. Files are read again only if their time or size has changed since the last look, so no
// process may write during Look().
class KeptFiles {
 public:
  explicit KeptFiles(std::string folder) : folder_(std::move(folder)) {}

  // The files of the job now, without those that were submitted. Fails, naming the file, if one cannot be
  // read, has a name that a job's file cannot have, or if they are too many.
  absl::StatusOr<std::vector<JobFile>> Look();

 private:
  struct Seen {
    std::pair<int64_t, int64_t> time;  // seconds, nanoseconds
    JobFile file;
  };

  const std::string folder_;
  std::map<std::string, Seen> seen_;  // by name
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_RUNNER_KEPT_FILES_H_
