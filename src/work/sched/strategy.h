// Scheduling strategies: which of the waiting stages goes first.
//
// A strategy orders requests and may hold some back; the scheduler sees to resources. All strategies are rows
// of one table, each in a file of its own that opens with problem, idea and cost.
#ifndef ATTUNE_WORK_SCHED_STRATEGY_H_
#define ATTUNE_WORK_SCHED_STRATEGY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attune {

// The facts of a job that strategies may use.
struct JobFacts {
  std::string id = {};
  std::string owner = {};
  int priority = 0;                     // higher goes first
  std::optional<double> deadline = {};  // on the scheduler's clock, in seconds
  // The job that this is a part of, whose parts run at the same time; empty: it is no part.
  std::string whole = {};
};

// A stage that a job asks to run.
struct StageRequest {
  int64_t job = 0;       // in the order of submission
  double since = 0;      // when it was asked for, on the scheduler's clock
  int64_t round = 0;     // the number of stages that the job has run before
  double remaining = 0;  // predicted seconds of the job from here to its end, this stage included
  // Whether the stage before it needed the same resources. If the stage is granted now, that is all one piece
  // of work.
  bool continues = false;
};

// The state of the whole schedule, as far as strategies look at it.
struct ScheduleState {
  int64_t first_job = 0;    // the job that was submitted first of those that have not ended
  int64_t least_round = 0;  // the least number of stages that a job has run of those that have not ended
};

struct SchedulingStrategy {
  std::string_view name;
  // Requests with smaller keys go first, and earlier jobs among equal ones. The key of a request stays the
  // same while it waits.
  double (*key)(const StageRequest& request, const JobFacts& job);
  // Whether a request may be granted now, resources aside; null: always. If one is held back, so are all with
  // larger keys.
  bool (*may_start)(const StageRequest& request, const ScheduleState& state) = nullptr;
  // Whether each owner's jobs together get as much as another owner's. Within an owner, the job that has
  // fewer of the resources goes first, relative to the weight of its class (work/sched/priority_class.h), so
  // that the parts of one do not take all; then keys decide.
  bool is_fair_to_owners = false;
  // Whether each job keeps the host that it began on, for itself, until it ends.
  bool dedicates_hosts = false;
  // Whether stages get what they need. If not, all start at once.
  bool is_coordinated = true;
  // Whether every job ends as long as stages do, whatever other jobs come.
  bool lets_none_starve = true;
};

std::span<const SchedulingStrategy> AllSchedulingStrategies();
// Null if there is none with this name.
const SchedulingStrategy* FindSchedulingStrategy(std::string_view name);

}  // namespace attune

#endif  // ATTUNE_WORK_SCHED_STRATEGY_H_
