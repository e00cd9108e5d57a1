// The thread that runs a server's schedule.
//
// Problem: the schedule must last as long as the server, and its store may fail at any moment: the disk is
// full, the database away. Idea: a loop opens the store, resumes what it has and steps until the store fails;
// then it begins again from what the store has, as after a restart of the server. Until it can, those who ask
// are told why, and those who only read see the stored state if it can be read. Price: what ran meanwhile is
// run again.
#ifndef ATTUNE_SERVICE_QUEUE_SCHEDULE_LOOP_H_
#define ATTUNE_SERVICE_QUEUE_SCHEDULE_LOOP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "fleet/serving/fleet_parts.h"
#include "service/queue/device_quotas.h"
#include "service/queue/job_credentials.h"
#include "service/queue/live_schedule.h"
#include "service/queue/runner_hub.h"
#include "work/driver/schedule_driver.h"
#include "work/store/sql_job_store.h"

namespace attune {

// Counts of a server's jobs for its metrics, as of some moments ago.
struct JobCounts {
  int64_t waiting = 0, running = 0;  // jobs that are not over
  int64_t runners = 0;               // that are connected
  int64_t stages = 0;                // that have ended since the server has started
};

// Thread safe.
class JobCounters {
 public:
  // `live`: how many jobs are not over.
  void Set(int64_t live, int64_t running, int64_t runners) {
    waiting_ = live - running;
    running_ = running;
    runners_ = runners;
  }
  void CountStage() { ++stages_; }
  JobCounts counts() const {
    return {.waiting = waiting_, .running = running_, .runners = runners_, .stages = stages_};
  }

 private:
  std::atomic<int64_t> waiting_ = 0, running_ = 0, runners_ = 0, stages_ = 0;
};

// Thread safe. The arguments must outlive it; `hub` wakes it.
class ScheduleLoop {
 public:
  ScheduleLoop(const FleetParts& parts, ScheduleDriverOptions driving, RunnerHub& hub, ScheduleQueue& queue,
               DeviceQuotas& quotas, JobCounters& counters)
      : parts_(parts),
        driving_(std::move(driving)),
        hub_(hub),
        queue_(queue),
        quotas_(quotas),
        counters_(counters),
        credentials_(parts) {}
  ~ScheduleLoop() { Stop(); }

  // Fails if the system has no thread to give.
  absl::Status Start() { return loop_.Start(); }
  // Cuts short what runs, and closes the queue.
  void Stop();

  // For the thread itself: what a runner needs for the job, with new credentials.
  absl::StatusOr<JobSupplies> Supply(const std::string& job);

 private:
  // The stored jobs while nothing can be written.
  struct Resting;

  // Serves until it is stopped, or until the store fails; then it is due again a little later.
  double Step();
  absl::Status Serve();
  absl::Status Run(LiveSchedule& schedule);
  // Looks at what changes now and then.
  absl::Status Update(LiveSchedule& schedule);

  const FleetParts parts_;
  const ScheduleDriverOptions driving_;
  RunnerHub& hub_;
  ScheduleQueue& queue_;
  DeviceQuotas& quotas_;
  JobCounters& counters_;
  JobCredentials credentials_;

  std::shared_ptr<SqlJobStore> store_;        // is kept while its disk is full, and so is the next one
  std::shared_ptr<const KnownJobs> resting_;  // from the same store
  LiveSchedule* schedule_ = nullptr;          // while it runs
  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_SCHEDULE_LOOP_H_
