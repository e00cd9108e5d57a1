// The jobs that the scheduler has, by their numbers in the schedule.
#ifndef ATTUNE_WORK_DRIVER_SCHEDULED_JOBS_H_
#define ATTUNE_WORK_DRIVER_SCHEDULED_JOBS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "work/sched/resources.h"
#include "work/sched/scheduler.h"
#include "work/sched/strategy.h"

namespace attune {

// The scheduler numbers jobs by itself, anew each time that one is submitted. A job is in the scheduler if
// and only if it is here: it comes by Submit(), and leaves when it has ended, when it is withdrawn, and when
// it asks for what no host can ever grant. Times are as the scheduler has them. Not thread safe.
class ScheduledJobs {
 public:
  // The strategy must outlive it.
  explicit ScheduledJobs(const SchedulingStrategy& strategy) : strategy_(strategy), scheduler_(strategy) {}

  const SchedulingStrategy& strategy() const { return strategy_; }

  // Hosts, as Scheduler has them. None of the jobs may run on a host that is removed.
  int next_host() const { return scheduler_.ledger().next_host(); }
  int AddHost(HostResources resources) { return scheduler_.AddHost(std::move(resources)); }
  void RemoveHost(int host, double now) { scheduler_.RemoveHost(host, now); }
  void SetSlots(int host, std::map<std::string, int64_t> slots);
  std::optional<int> FreeHost(const JobStage& stage) { return scheduler_.FreeHost(stage); }

  // The job, which is not here, asks for its next stage. Fails, and the job is still not here, if no host
  // could ever grant it, or if another one with its id is here.
  absl::Status Submit(size_t job, JobFacts facts, NextStage next, double now);
  // The job's stage has ended, and it asks for the next one; it leaves if there is none. Fails, and the job
  // leaves, if no host could ever grant it.
  absl::Status Done(size_t job, std::optional<NextStage> next, double now);
  // A job that waits asks for this stage instead. Fails as Done() does.
  absl::Status Change(size_t job, NextStage next, double now);
  // A job that waits leaves. Does nothing if it is not here.
  void Withdraw(size_t job);
  // Withdraws the jobs that wait for what no host could ever grant, since hosts are gone, and returns them
  // with what they lack.
  std::vector<std::pair<size_t, std::string>> WithdrawUngrantable();
  // Returns the jobs whose next stage starts now, with what it holds.
  std::vector<std::pair<size_t, Holding>> Decide(double now);

  bool contains(size_t job) const { return numbers_.contains(job); }
  bool is_empty() const { return numbers_.empty(); }
  std::vector<size_t> Jobs() const;
  // The stage that a job that is here runs or asks for.
  const JobStage& StageOf(size_t job) const { return scheduler_.stage(numbers_.at(job)); }

 private:
  void Leave(size_t job);

  const SchedulingStrategy& strategy_;
  Scheduler scheduler_;
  std::map<size_t, int64_t> numbers_;  // the scheduler's, by job
  std::map<int64_t, size_t> jobs_;     // by the scheduler's number
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_SCHEDULED_JOBS_H_
