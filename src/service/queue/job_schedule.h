// The jobs of a server: one schedule without an end, on machines that come and go.
//
// A thread runs the schedule (schedule_loop.h). Others submit, read and end jobs by asking it (task_queue.h),
// each kind of question by a part of its own.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_SCHEDULE_H_
#define ATTUNE_SERVICE_QUEUE_JOB_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/serving/fleet_parts.h"
#include "service/queue/artifact_signer.h"
#include "service/queue/device_quotas.h"
#include "service/queue/ended_jobs.h"
#include "service/queue/group_commit.h"
#include "service/queue/job_control.h"
#include "service/queue/job_file_cleaner.h"
#include "service/queue/job_reader.h"
#include "service/queue/job_submissions.h"
#include "service/queue/live_schedule.h"
#include "service/queue/runner_hub.h"
#include "service/queue/schedule_loop.h"
#include "service/queue/sent_files.h"
#include "service/records/shared_learning.h"
#include "work/driver/schedule_driver.h"
#include "work/sched/strategy.h"

namespace attune {

struct JobScheduleOptions {
  std::string folder = {};                       // of its database and of the jobs' files
  const SchedulingStrategy* strategy = nullptr;  // must outlive it
  int64_t jobs_at_once = 16;                     // that are in memory on each machine
  // Called by the thread that schedules; may be null.
  DeviceUsed on_device_used = nullptr;
  // Called by the same thread; null: there are no quotas.
  DeviceQuota device_quota = nullptr;
  // Called by threads that take files from runners; null: there are no quotas.
  StorageQuota storage_quota = nullptr;
  // Whose devices, and which tenants' jobs, the shared cost model learns from (SharedLearningOptions).
  std::set<std::string> trusted_owners = {};
  std::function<absl::StatusOr<bool>(const std::string& tenant)> teaches_cost_model = nullptr;
};

// Thread safe. `parts` must outlive it.
class JobSchedule {
 public:
  // Fails if the folder cannot be made.
  static absl::StatusOr<std::unique_ptr<JobSchedule>> Open(const JobScheduleOptions& options,
                                                           const FleetParts& parts);
  ~JobSchedule() { Stop(); }
  // Fails if the system has no thread to give.
  absl::Status Begin();
  // Cuts short what runs. From now on, those who ask get Unavailable.
  void Stop();

  JobSubmissions& submissions() { return submissions_; }
  JobReader& reader() { return reader_; }
  JobControl& control() { return control_; }
  EndedJobs& ended() { return ended_; }
  // The cost model that jobs share.
  SharedLearning& learning() { return *learning_; }
  // By which the artifacts of jobs are signed.
  const ArtifactSigner& signer() const { return signer_; }
  JobCounts counts() const { return counters_.counts(); }
  // Whether jobs can be stored now.
  bool AreKept() const { return queue_.is_open(); }

  // The files of jobs, by the owner that is their `base` (JobSpec), and those that no report has named yet.
  BlobStore& files() { return *files_; }
  SentFiles& sent() { return sent_; }
  JobFileCleaner& cleaner() { return cleaner_; }
  RunnerHub& hub() { return hub_; }

 private:
  JobSchedule(const JobScheduleOptions& options, const FleetParts& parts, std::unique_ptr<BlobStore> files,
              ArtifactSigner signer, std::unique_ptr<SharedLearning> learning);

  ScheduleDriverOptions Driving(const JobScheduleOptions& options);
  // A stage was stored with its job.
  void OnStored(const JobRecord& job, const StageRecord& stage);

  const std::unique_ptr<BlobStore> files_;
  const ArtifactSigner signer_;
  const std::unique_ptr<SharedLearning> learning_;
  RunnerHub hub_;
  ScheduleQueue queue_{[this] { hub_.Wake(); }};

  GroupCommit commit_{queue_};
  JobSubmissions submissions_;
  JobReader reader_;
  JobControl control_{queue_, *files_};
  SentFiles sent_;
  JobFileCleaner cleaner_{*files_, sent_, queue_};
  DeviceQuotas quotas_;
  JobCounters counters_;
  EndedJobs ended_;

  ScheduleLoop loop_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_SCHEDULE_H_
