// Gives the resources of many hosts to the stages of many jobs.
//
// Problem: jobs need now processors, now a device for themselves, and wait in between; what one does not use,
// another could. Idea: each job asks for one stage at a time. Whenever something changes, waiting requests
// are granted in the strategy's order, as far as resources are free. A request's missing resources are
// reserved for it as they become free, so that small requests do not overtake a large one for ever. Requests
// with the same needs differ in order alone: only the first of each such group is looked at, so that a
// decision costs the number of groups, not of jobs.
//
// Pure: it has no clock and no threads, and the same calls give the same decisions, in a server, on one
// machine and in a simulation.
#ifndef ATTUNE_WORK_SCHED_SCHEDULER_H_
#define ATTUNE_WORK_SCHED_SCHEDULER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/job.h"
#include "work/sched/resources.h"
#include "work/sched/strategy.h"

namespace attune {

// A job's next stage, and the predicted seconds of the job from there to its end.
struct NextStage {
  JobStage stage;
  double remaining = 0;
};

struct StageStart {
  int64_t job = 0;
  Holding holding;  // until Done() or Lost()
};

// The stage's needs, for people: "4 processors, "desk" for itself, 1.5 GB of memory".
std::string NeedsText(const JobStage& stage);

// Not thread safe. Times are seconds on one clock and never go back.
class Scheduler {
 public:
  // The strategy must outlive it.
  explicit Scheduler(const SchedulingStrategy& strategy) : strategy_(&strategy) {}

  int AddHost(HostResources resources) { return ledger_.AddHost(std::move(resources)); }
  // The host is gone, and the stages that ran there are lost: returns their jobs, which wait again.
  std::vector<int64_t> RemoveHost(int host, double now);

  // Returns the job's number. Fails if no host could ever grant the stage, or a job with this id has not
  // ended.
  absl::StatusOr<int64_t> Submit(JobFacts facts, NextStage first, double now);
  // Grants what can be granted now. Call it after other calls have changed anything.
  std::vector<StageStart> Decide(double now);
  // The job's stage has ended; nothing follows if the job has. Fails if no host could ever grant the next
  // stage, or not the one that is dedicated to the job; the job has ended then.
  absl::Status Done(int64_t job, std::optional<NextStage> next, double now);
  // A job that waits asks for this stage instead. Fails as Done() does.
  absl::Status Change(int64_t job, NextStage next, double now);
  // A job that waits has ended.
  void Drop(int64_t job);
  // The job's stage came to nothing, for example because its process died. The job asks for it again.
  void Lost(int64_t job, double now);

  // A host that could grant the stage now, before all requests that wait; nothing if there is none.
  std::optional<int> FreeHost(const JobStage& stage);

  // Fails, saying what it needs, if no host could ever grant the stage of such a job.
  absl::Status CheckGrantable(const JobFacts& facts, const JobStage& stage) const {
    return CheckGrantable(facts, stage, -1);
  }

  // The host has these slots from now on; stages that run keep what they have.
  void SetSlots(int host, std::map<std::string, int64_t> slots) { ledger_.SetSlots(host, std::move(slots)); }

  // The jobs that wait for what no host could ever grant, since hosts are gone.
  std::vector<int64_t> Ungrantable() const;

  const JobFacts& facts(int64_t job) const { return jobs_.at(job).facts; }
  // The stage that the job runs or asks for.
  const JobStage& stage(int64_t job) const { return jobs_.at(job).next.stage; }
  bool is_running(int64_t job) const { return jobs_.at(job).holding.has_value(); }
  int64_t num_jobs() const { return std::ssize(jobs_); }  // that have not ended
  const ResourceLedger& ledger() const { return ledger_; }

 private:
  struct ScheduledJob {
    JobFacts facts;
    NextStage next;
    StageRequest request;
    std::optional<Holding> holding;  // while the stage runs
    std::string group;               // of the request that it was granted for
    double start = 0;
    double charged = 0;  // what its owner was charged for the stage that runs, in seconds
    int host = -1;       // that is dedicated to it
  };
  // Requests are kept by asker: an owner, or an owner's job that has parts. Both are empty if the strategy is
  // not fair to owners.
  struct Asker {
    std::string owner, whole;
    auto operator<=>(const Asker&) const = default;
  };
  // The order in which requests are granted: by what their owner's stages took, and by how much of the same
  // the job has now, if the strategy is fair to owners; by the strategy's key; by job.
  using Order = std::tuple<double, double, double, int64_t>;
  // Requests with the same needs. Requests of one asker are in the order of their keys; the first of each
  // asker is among the heads.
  struct Group {
    StageNeeds needs;
    std::map<Asker, std::set<std::pair<double, int64_t>>> requests = {};  // (key, job)
    std::map<std::string, int64_t> held = {};  // how many stages of a job with parts hold such resources
    std::set<Order> heads = {};
  };
  struct Owner {
    double used = 0;   // seconds that the owner's stages took, and those that the running ones are predicted
                       // to take
    int64_t jobs = 0;  // that have not ended
  };

  ScheduleState State() const;
  // Fails if no host, or not `host` if that is not negative, could ever grant the stage.
  absl::Status CheckGrantable(const JobFacts& facts, const JobStage& stage, int host) const;
  // The job asks for this stage, or ends if no host could ever grant it.
  absl::Status AskFor(int64_t number, NextStage next, int64_t round, double now);
  // One more job of this owner.
  void Join(const std::string& owner);
  std::string GroupOf(const ScheduledJob& job) const;
  Asker AskerOf(const ScheduledJob& job) const;
  // The place of an asker's first request.
  Order HeadOf(const Group& group, const Asker& asker) const;
  void Ask(int64_t number);
  void Withdraw(int64_t number);
  // Forgets the group if no request and no count uses it.
  void DropIfUnused(const std::string& group);
  // Makes a change that moves the first request of this asker within the group.
  template <typename Change>
  void Move(Group& group, const Asker& asker, const Change& change);
  // Adds to what an owner's stages took.
  void AddUsed(const std::string& owner, double seconds);
  // Adds to how much of the group's resources the job has together with its other parts.
  void AddHeld(const ScheduledJob& job, const std::string& group, int64_t stages);
  std::optional<Holding> Grant(ScheduledJob& job, const StageNeeds& needs);
  // The job's stage has ended, in whichever way.
  void Release(ScheduledJob& job, double now);
  void End(int64_t number);

  const SchedulingStrategy* strategy_;
  ResourceLedger ledger_;
  std::map<int64_t, ScheduledJob> jobs_;
  std::map<std::string, int64_t> numbers_;  // by id
  std::map<std::string, Group> groups_;
  std::multiset<int64_t> rounds_;  // of all jobs
  std::map<std::string, Owner> owners_;
  std::set<int> dedicated_;  // hosts
  int64_t num_submitted_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_WORK_SCHED_SCHEDULER_H_
