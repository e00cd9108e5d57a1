// Ends and removes a server's jobs.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_CONTROL_H_
#define ATTUNE_SERVICE_QUEUE_JOB_CONTROL_H_

#include <string>

#include "absl/status/statusor.h"
#include "fleet/blobs/blob_store.h"
#include "service/queue/live_schedule.h"
#include "service/wire/jobs.pb.h"
#include "work/store/job_store.h"

namespace attune {

// Thread safe. The arguments must outlive it. Fails with Unavailable, which passes by itself, while jobs
// cannot be stored.
class JobControl {
 public:
  // `files`: those of jobs.
  JobControl(ScheduleQueue& queue, BlobStore& files) : queue_(queue), files_(files) {}

  // Cancels a job, and returns it. One that is over stays as it is. NotFound if there is none. `by`: who
  // cancels, for the log.
  absl::StatusOr<jobs_service_proto::Job> Cancel(const JobQuery& query, const std::string& by);
  // Cancels the owner's jobs, and forgets those that are over with their files, at most some hundred. Returns
  // whether none is left.
  absl::StatusOr<bool> RemoveJobs(const std::string& owner);

 private:
  ScheduleQueue& queue_;
  BlobStore& files_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_CONTROL_H_
