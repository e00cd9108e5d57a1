// The jobs of a server: one schedule without an end, on machines that come and go.
//
// Problem: the scheduler is one loop that must not wait, clients ask at any time, and the disk may be full.
// Idea: a thread of its own runs the loop, and carries out what clients ask for between two of its steps. If
// the store fails, it begins again from what the store has, as after a restart of the server; until it can,
// clients are told why. Price: what ran meanwhile is run again.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_SCHEDULE_H_
#define ATTUNE_SERVICE_QUEUE_JOB_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/serving/fleet_parts.h"
#include "service/queue/artifact_signer.h"
#include "service/queue/device_quotas.h"
#include "service/queue/job_credentials.h"
#include "service/queue/known_jobs.h"
#include "service/queue/runner_hub.h"
#include "service/queue/schedule_hosts.h"
#include "service/queue/sent_files.h"
#include "service/records/shared_learning.h"
#include "service/wire/jobs.pb.h"
#include "work/driver/schedule_driver.h"
#include "work/sched/strategy.h"
#include "work/store/job_store.h"

namespace attune {

class SqlJobStore;

struct JobScheduleOptions {
  std::string folder = {};                       // of its database and of the jobs' files
  const SchedulingStrategy* strategy = nullptr;  // must outlive it
  int64_t jobs_at_once = 16;                     // that are in memory on each machine
  // Called with the time that a stage has had a device, by the thread that schedules; may be null.
  std::function<void(const std::string& owner, double seconds)> on_device_used = nullptr;
  // Called by the same thread; null: there are no quotas.
  DeviceQuota device_quota = nullptr;
  // Called by threads that take files from runners; null: there are no quotas.
  StorageQuota storage_quota = nullptr;
  // Whose devices, and which tenants' jobs, the shared cost model learns from (SharedLearningOptions).
  std::set<std::string> trusted_owners = {};
  std::function<absl::StatusOr<bool>(const std::string& tenant)> teaches_cost_model = nullptr;
};

struct JobCounts {
  int64_t waiting = 0, running = 0;  // jobs that are not over
  int64_t runners = 0;               // that are connected
  int64_t stages = 0;                // that have ended since the server has started
  bool are_kept = false;             // the store works
};

// Thread safe. `parts` must outlive it. Functions that ask fail with Unavailable while the store does; those
// that only read work while its disk is full.
class JobSchedule {
 public:
  // Fails if the folder cannot be made.
  static absl::StatusOr<std::unique_ptr<JobSchedule>> Open(const JobScheduleOptions& options,
                                                           const FleetParts& parts);
  ~JobSchedule();
  // Fails if the system has no thread to give.
  absl::Status Begin();
  // Cuts short what runs. From now on, those who ask get Unavailable.
  void Stop();

  // `on_ended` is called for each job that has ended, well or not, soon after that; may be null. It must not
  // block.
  void TellEnded(std::function<void(const std::string& job)> on_ended);

  // The jobs must have been checked, and their files be there. As JobStore::AddJobs() for one; those that
  // come at the same time are kept together.
  absl::StatusOr<std::vector<jobs_service_proto::Job>> Submit(const std::string& key,
                                                              std::vector<JobRecord> jobs);
  // The latest first, without results. `with_judged`: those of jobs with an agreement are there, which it is
  // judged by.
  absl::StatusOr<std::vector<jobs_service_proto::Job>> List(JobQuery query, bool with_judged = false);
  // NotFound if there is no such job.
  absl::StatusOr<jobs_service_proto::JobDetail> Show(const JobQuery& query);
  absl::StatusOr<JobRecord> Find(const JobQuery& query);
  // As JobRecords::ForOthers(). NotFound if the job or its records are gone.
  absl::StatusOr<std::string> RecordsForOthers(const JobQuery& query, const std::string& device, int threads);
  // Returns the jobs that have changed since they were seen, in the order of the marks, which are brought up
  // to date. Jobs that rest cost next to nothing: unfinished jobs are in memory.
  absl::StatusOr<std::vector<jobs_service_proto::Job>> Changes(std::vector<JobMark>& marks);
  absl::StatusOr<jobs_service_proto::Job> Cancel(const JobQuery& query);
  // How many jobs of the owner are not over; the parts of a job are no jobs of their own.
  absl::StatusOr<int64_t> Unfinished(const std::string& owner);
  // Why no machine runs the owner's jobs now.
  absl::StatusOr<MachineLack> LackOf(const std::string& owner);
  // The bytes of all files of the owner's jobs.
  absl::StatusOr<int64_t> StoredBytes(const std::string& owner);
  // Cancels the owner's jobs, and forgets those that are over with their files, at most some hundred. Returns
  // whether none is left.
  absl::StatusOr<bool> RemoveJobs(const std::string& owner);

  // As of some moments ago.
  JobCounts counts() const;

  RunnerHub& hub() { return hub_; }
  // The cost model that jobs share.
  SharedLearning& learning() { return *learning_; }
  // The files of jobs, by the name that is their `base` (JobSpec).
  BlobStore& files() { return *files_; }
  // Counts those that runners have sent and that no report has named yet.
  SentFiles& sent() { return sent_; }
  // Forgets files that a runner has sent after it lost the job, soon or when the job's row changes next. Does
  // not wait.
  void ForgetLate(const std::string& job, const std::string& files_owner);
  const ArtifactSigner& signer() const { return signer_; }

 private:
  // It exists as long as the store works.
  struct Serving;
  using Task = std::function<void(const absl::StatusOr<Serving*>& serving)>;
  struct Resting;
  // The data for questions that change nothing.
  struct Reading;
  // A submission that waits for its jobs.
  struct Submitted;

  JobSchedule(const JobScheduleOptions& options, const FleetParts& parts, std::unique_ptr<BlobStore> files,
              ArtifactSigner signer, std::unique_ptr<SharedLearning> learning);

  // Serves until it is stopped, or until the store fails; then it is due again a little later.
  double Step();
  absl::Status Serve();
  // Serve() has ended with this.
  void Rest(const absl::Status& ended);
  void RunTasks(const absl::StatusOr<Serving*>& serving);
  ScheduleDriverOptions Driving();
  // Forgets all other files that runners have sent for a job, whether or not they are complete.
  void ForgetAllBut(const std::vector<JobFile>& files, const std::string& files_owner);
  // A whole job's own inputs, and what its parts have left, each in a folder of its own.
  absl::StatusOr<std::vector<JobFile>> Gather(const JobRecord& whole,
                                              const std::map<size_t, JobRecord>& parts);
  absl::StatusOr<JobSupplies> Supply(const std::string& job);
  // The credentials of jobs that are over are worth nothing any more.
  absl::Status RevokeOld(const Serving& serving);
  void Count(const Serving& serving);

  // Keeps all in one step, since a database takes as long for one as for a hundred (group commit: DeWitt et
  // al., Implementation techniques for main memory database systems, 1984).
  static void Keep(const absl::StatusOr<Serving*>& serving, const std::vector<Submitted*>& all);
  static absl::StatusOr<std::vector<jobs_service_proto::Job>> Kept(Serving& serving,
                                                                   const std::map<size_t, JobRecord>& jobs);

  // Hands something to the thread. Fails if it would not be taken up.
  template <typename Item>
  absl::Status Enqueue(std::vector<Item>& queue, Item item);
  // Has the thread answer a question.
  template <typename Answer>
  absl::StatusOr<Answer> Ask(const std::function<absl::StatusOr<Answer>(Serving&)>& question);
  // The same for a question that changes nothing; while nothing can be written, the caller's thread answers
  // it.
  template <typename Answer>
  absl::StatusOr<Answer> Read(const std::function<absl::StatusOr<Answer>(const Reading&)>& question);

  const JobScheduleOptions options_;
  const FleetParts parts_;
  const std::unique_ptr<BlobStore> files_;
  const ArtifactSigner signer_;
  const std::unique_ptr<SharedLearning> learning_;
  RunnerHub hub_;
  SentFiles sent_;

  std::mutex records_mutex_;  // for the folder that a job's records are copied to

  // For the thread.
  Serving* serving_ = nullptr;
  std::shared_ptr<SqlJobStore> store_;  // is kept while its disk is full
  JobCredentials credentials_;

  mutable std::mutex mutex_;
  bool is_ending_ = false;
  absl::Status broken_;                     // why the store does not work
  std::shared_ptr<const Resting> resting_;  // the same store
  std::vector<Task> tasks_;
  std::vector<Submitted*> submitted_;
  JobCounts counts_;
  std::function<void(const std::string& job)> on_ended_;

  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_SCHEDULE_H_
