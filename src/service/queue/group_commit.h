// Stores submissions that come at the same time in one transaction.
//
// Problem: a database takes as long for one transaction as for a hundred, and many clients submit at once.
// Idea: all submissions that wait for the thread that schedules are stored in one step (group commit: DeWitt
// et al., Implementation techniques for main memory database systems, 1984). Price: if the store refuses one
// of them, each is stored on its own.
#ifndef ATTUNE_SERVICE_QUEUE_GROUP_COMMIT_H_
#define ATTUNE_SERVICE_QUEUE_GROUP_COMMIT_H_

#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "service/queue/live_schedule.h"
#include "service/wire/jobs.pb.h"
#include "work/store/job_store.h"

namespace attune {

// The whole jobs of one submission as they are now, or why it was not stored.
using StoredSubmission = absl::StatusOr<std::vector<jobs_service_proto::Job>>;

// Stores the submissions, each as JobStore::AddJobs() does one, and returns what became of each. Deadlines
// count from now on.
std::vector<StoredSubmission> StoreGroup(std::vector<JobSubmission> submissions, LiveSchedule& schedule);

// Thread safe. The queue must outlive it.
class GroupCommit {
 public:
  explicit GroupCommit(ScheduleQueue& queue) : queue_(queue) {}

  // Stores one submission as StoreGroup() does, with those that others wait for, and waits for that.
  StoredSubmission Submit(const std::string& key, std::vector<JobRecord> jobs);

 private:
  struct Waiting;

  // Stores all that wait, or tells them why not.
  void Commit(const absl::StatusOr<LiveSchedule*>& schedule);

  ScheduleQueue& queue_;
  std::mutex mutex_;
  std::vector<Waiting*> waiting_;  // of callers of Submit(), which have them
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_GROUP_COMMIT_H_
