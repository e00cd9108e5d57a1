// Takes submissions of jobs.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_SUBMISSIONS_H_
#define ATTUNE_SERVICE_QUEUE_JOB_SUBMISSIONS_H_

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/serving/device_directory.h"
#include "service/queue/group_commit.h"
#include "service/queue/submitted_files.h"
#include "service/wire/jobs.pb.h"
#include "work/store/stage_log.h"

namespace attune {

// The result of a job that is done at once, as another job has found it. Its one file is that of the other
// job, whose files have the owner `files_owner`.
struct KnownResult {
  std::string files_owner = {};
  JobFile file = {};
  std::string result = {};  // JSON
};

// Thread safe. The arguments must outlive it. Errors are for those who submit; Unavailable passes by itself.
class JobSubmissions {
 public:
  using Jobs = absl::StatusOr<std::vector<jobs_service_proto::Job>>;
  // Returns the text of the cost model that jobs share; nothing if there is none.
  using CurrentCostModel = std::function<absl::StatusOr<std::optional<std::string>>()>;

  // `files`: those of jobs.
  JobSubmissions(GroupCommit& commit, BlobStore& files, const DeviceDirectory& devices,
                 CurrentCostModel cost_model)
      : commit_(commit),
        store_(files),
        files_(files),
        devices_(devices),
        cost_model_(std::move(cost_model)) {}

  // Takes all jobs of the submission, or none; the same key of the same owner again submits nothing and
  // returns the same jobs. Their inputs are copied from what the owner has sent to `sent`, which may then
  // forget them. `by`: who submits, for the log. `records`: that tuning jobs begin with, as JSON lines,
  // unless they name some or are to know of none; empty: there are none.
  Jobs Submit(const std::string& owner, const std::string& by,
              const jobs_service_proto::Submission& submission, BlobStore& sent,
              const std::string& records = "");
  // The same for one job whose result is there already: it is done at once, and needs none of its inputs.
  // NotFound if the result's file is gone.
  Jobs SubmitKnown(const std::string& owner, const std::string& by,
                   const jobs_service_proto::Submission& submission, const KnownResult& known);
  // The first job that came under this key of the owner's; nothing if none did.
  absl::StatusOr<std::optional<jobs_service_proto::Job>> Find(const std::string& owner,
                                                              const std::string& key);

 private:
  // Gives new jobs what the server has learned.
  absl::Status AddLearned(const std::string& key, const std::string& records, std::vector<JobRecord>& jobs);
  // Stores the jobs if their files are `taken`. A submission that has failed leaves no files.
  Jobs Store(const std::string& key, const absl::Status& taken, const std::vector<JobRecord>& jobs);

  GroupCommit& commit_;
  BlobStore& store_;
  SubmittedFiles files_;
  const DeviceDirectory& devices_;
  const CurrentCostModel cost_model_;
  std::mutex mutex_;  // of submissions that bring files
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_SUBMISSIONS_H_
