// The files that jobs begin with, in the store of jobs' files.
#ifndef ATTUNE_SERVICE_QUEUE_SUBMITTED_FILES_H_
#define ATTUNE_SERVICE_QUEUE_SUBMITTED_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
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

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_SUBMITTED_FILES_H_
