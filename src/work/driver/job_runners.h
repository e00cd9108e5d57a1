// The runners of a schedule's jobs: whose each is, and on which host.
#ifndef ATTUNE_WORK_DRIVER_JOB_RUNNERS_H_
#define ATTUNE_WORK_DRIVER_JOB_RUNNERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "work/driver/runner_messages.h"
#include "work/driver/runners.h"

namespace attune {

// The time that cancelled stages get to end by themselves.
//
// Jobs are known by their numbers. Times are seconds since the schedule began. Not thread safe.
class GracePeriods {
 public:
  // The job's stage is to end before `end`. One that has a grace period already gets this one instead.
  void Begin(size_t job, double end) { ends_[job] = end; }
  // The job's stage has ended, or none was cancelled.
  void End(size_t job) { ends_.erase(job); }
  // Returns the jobs whose grace period is over.
  std::vector<size_t> Expired(double now) const {
    std::vector<size_t> jobs;
    for (const auto& [job, end] : ends_)
      if (end <= now) jobs.push_back(job);
    return jobs;
  }

 private:
  std::map<size_t, double> ends_;
};

// A runner is here from its start until it has ended, by itself or because it is not needed any more. Until
// then it belongs to one job and stays on one host; a job has at most one runner. A job that moves has none:
// its next runner is to be started on a certain host. Only a job that has a runner has a grace period.
//
// Jobs are known by their numbers. Not thread safe.
class JobRunners {
 public:
  // `runners` must outlive it.
  explicit JobRunners(Runners& runners) : runners_(runners) {}

  // Starts a runner for the job, which has none, on the host with this number.
  absl::StatusOr<int64_t> Start(size_t job, int host);
  void Send(int64_t runner, const RunnerCommand& command) { runners_.Send(runner, command); }
  // Cancels the stage that the runner runs. If it does not end before `grace_end`, its job is overdue.
  void Cancel(int64_t runner, double grace_end);
  // Waits at most this long for events, and returns those that there are. Some may be of runners that end
  // before their event is looked at.
  std::vector<RunnerEvent> Await(double seconds) { return runners_.Await(seconds); }
  // The runner is not needed any more. Does nothing if it has ended.
  void End(int64_t runner);
  void EndAll();
  // The runner has ended by itself.
  void Forget(int64_t runner);
  // Ends the runner, and starts the job's next one on this host.
  void Move(int64_t runner, int host);
  // The job may be started on any host.
  void CancelMove(size_t job) { moving_.erase(job); }

  // Returns nothing if the runner has ended.
  std::optional<size_t> JobOf(int64_t runner) const;
  // The runner must not have ended.
  int HostOf(int64_t runner) const { return owners_.at(runner).host; }
  // Returns the runners on a host, with their jobs.
  std::vector<std::pair<int64_t, size_t>> RunnersOn(int host) const;
  // Returns the number of runners by host.
  std::map<int, int64_t> CountByHost() const;
  // Returns the host that the job moves to; nothing if it does not move.
  std::optional<int> DestinationOf(size_t job) const;
  // Returns the jobs whose cancelled stage should have ended by now.
  std::vector<size_t> Overdue(double now) const { return grace_.Expired(now); }

 private:
  struct Owner {
    size_t job = 0;
    int host = -1;
  };

  Runners& runners_;
  std::map<int64_t, Owner> owners_;  // by runner
  std::map<size_t, int> moving_;     // hosts, by job
  GracePeriods grace_;
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_JOB_RUNNERS_H_
