// The schedule of a server as long as its store works.
#ifndef ATTUNE_SERVICE_QUEUE_LIVE_SCHEDULE_H_
#define ATTUNE_SERVICE_QUEUE_LIVE_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/serving/device_directory.h"
#include "fleet/store/fleet_store.h"
#include "service/queue/known_jobs.h"
#include "service/queue/runner_hub.h"
#include "service/queue/schedule_hosts.h"
#include "service/queue/task_queue.h"
#include "work/driver/schedule_driver.h"
#include "work/store/job_store.h"

namespace attune {

// For the thread that schedules. All changes to jobs go through it, so that it knows whether its driver and
// the store still agree.
class LiveSchedule {
 public:
  // The references must outlive it. `record`: as the store has resumed it.
  LiveSchedule(JobStore& store, ScheduleRecord record, ScheduleDriverOptions driving, RunnerHub& hub,
               const DeviceDirectory& devices, FleetStore& fleet);

  // Gives the driver all jobs that are not over.
  absl::Status Resume();
  // As JobStore::AddJobs(). The driver gets those that are not over and that it does not have.
  absl::StatusOr<std::vector<std::map<size_t, JobRecord>>> AddJobs(
      const std::vector<JobSubmission>& submissions);
  // As ScheduleDriver::Cancel().
  absl::Status Cancel(size_t number);
  // As JobStore::RemoveJobs().
  absl::Status RemoveJobs(const std::vector<size_t>& numbers) { return store_.RemoveJobs(id_, numbers); }

  // Why the driver and the store may differ: then the schedule is opened anew. OK: they agree.
  const absl::Status& broken() const { return broken_; }
  ScheduleDriver& driver() { return driver_; }
  ScheduleHosts& hosts() { return hosts_; }
  const KnownJobs& view() const { return known_; }

  // The ids of the jobs that are not over.
  std::set<std::string_view> LiveJobs() const;
  int64_t NumRunning() const;

 private:
  void Add(size_t number, const JobRecord& job);

  JobStore& store_;
  const std::string id_;
  ScheduleDriver driver_;
  ScheduleHosts hosts_;
  const KnownJobs known_;
  absl::Status broken_;
};

// By which other threads ask the one that schedules. Without a schedule, jobs are read at rest.
using ScheduleQueue = TaskQueue<LiveSchedule, KnownJobs>;

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_LIVE_SCHEDULE_H_
