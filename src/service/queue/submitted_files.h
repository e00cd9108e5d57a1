// The files that jobs begin with, and those that parts of jobs leave, in the store of jobs' files.
#ifndef ATTUNE_SERVICE_QUEUE_SUBMITTED_FILES_H_
#define ATTUNE_SERVICE_QUEUE_SUBMITTED_FILES_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/blobs/blob_store.h"
#include "work/store/stage_log.h"

namespace attune {

// Each job is an owner of files, by its `base` (JobSpec). Thread safe. The store must outlive it.
class SubmittedFiles {
 public:
  explicit SubmittedFiles(BlobStore& files) : files_(files) {}

  // Copies the files of all jobs from what the owner has sent to `sent`, which may then forget them. Fails,
  // naming the job and the file, if one was not sent or has another size.
  absl::Status TakeAll(const std::string& owner, const std::vector<JobRecord>& jobs, BlobStore& sent);
  // Stores a text as a file of the job with this base.
  absl::Status Add(const std::string& base, const std::string& digest, std::string_view text);
  // Forgets the files of jobs that were not stored. Failures go to the log.
  void ForgetAll(const std::vector<JobRecord>& jobs);

 private:
  absl::Status Take(const std::string& owner, const JobRecord& job, const JobFile& file, BlobStore& sent);

  BlobStore& files_;
};

// The inputs that a server gives new jobs of what it has learned from others.
//
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

// Returns the whole job's own inputs, and what its parts have left, each in a folder of its own
// (PartFolder()); the whole job may read the latter from now on. Fails if they are more than a job may have.
absl::StatusOr<std::vector<JobFile>> GatherPartFiles(const JobRecord& whole,
                                                     const std::map<size_t, JobRecord>& parts,
                                                     BlobStore& files);

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_SUBMITTED_FILES_H_
