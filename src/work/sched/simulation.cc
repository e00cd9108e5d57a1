#include "work/sched/simulation.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>

#include "base/quantile.h"
#include "base/status.h"
#include "work/sched/scheduler.h"

namespace attune {
namespace {

class Simulator {
 public:
  Simulator(const std::vector<SimulatedJob>& jobs, const SchedulingStrategy& strategy, const Clock& clock)
      : jobs_(jobs), clock_(clock), scheduler_(strategy), current_(jobs.size()), followers_(jobs.size()) {
    for (size_t index = 0; index < jobs.size(); ++index) {
      const SimulatedJob& job = jobs[index];
      current_[index].before = std::ssize(job.after);
      for (const size_t before : job.after) followers_.at(before).push_back(index);
      // Sums from the end, so that a job of many stages is not added up for each.
      std::vector<double>& sums = remaining_.emplace_back(job.stages.size());
      double sum = 0;
      for (size_t stage = job.stages.size(); stage-- > 0;)
        sums[stage] = sum += job.stages[stage].stage.seconds.median;
    }
  }

  absl::StatusOr<SimulationResult> Run(const std::vector<HostResources>& hosts) {
    for (const HostResources& host : hosts) scheduler_.AddHost(host);
    for (size_t job = 0; job < jobs_.size(); ++job)
      if (jobs_[job].after.empty()) events_.push({jobs_[job].submitted, true, job});
    while (!events_.empty()) {
      const double now = events_.top().time;
      for (; !events_.empty() && events_.top().time == now; events_.pop())
        RETURN_IF_ERROR(events_.top().submits ? Submit(events_.top().job, now) : End(events_.top().job, now));
      const Stopwatch watch(clock_);
      const std::vector<StageStart> starts = scheduler_.Decide(now);
      result_.decision_seconds.push_back(watch.Seconds());
      for (const StageStart& start : starts) Start(start, now);
    }
    for (size_t job = 0; job < jobs_.size(); ++job)
      if (current_[job].before > 0) return InvalidInput("job \"", jobs_[job].facts.id, "\" waits for itself");
    return std::move(result_);
  }

 private:
  struct Event {
    double time;
    bool submits;  // else a stage ends
    size_t job;
    // Ends come before submissions at the same time, and earlier jobs before later ones.
    bool operator>(const Event& other) const {
      return std::tie(time, submits, job) > std::tie(other.time, other.submits, other.job);
    }
  };
  struct Current {
    int64_t number = 0;  // the scheduler's
    size_t stage = 0;
    double asked = 0;
    int64_t before = 0;  // jobs that have to end first
  };

  NextStage Next(size_t job) const {
    const size_t stage = current_[job].stage;
    return {jobs_[job].stages[stage].stage, remaining_[job][stage]};
  }

  absl::Status Submit(size_t job, double now) {
    current_[job].asked = now;
    ASSIGN_OR_RETURN(current_[job].number, scheduler_.Submit(jobs_[job].facts, Next(job), now));
    indices_[current_[job].number] = job;
    return absl::OkStatus();
  }

  void Start(const StageStart& start, double now) {
    const size_t job = indices_.at(start.job);
    const Current& current = current_[job];
    const double end = now + jobs_[job].stages[current.stage].seconds;
    result_.runs.push_back({job, current.stage, start.holding.host, current.asked, now, end});
    events_.push({end, false, job});
  }

  absl::Status End(size_t job, double now) {
    Current& current = current_[job];
    current.asked = now;
    std::optional<NextStage> next;
    if (++current.stage < jobs_[job].stages.size()) next = Next(job);
    if (!next) {
      result_.makespan = now;
      const std::optional<double> deadline = jobs_[job].facts.deadline;
      result_.missed_deadlines += deadline.has_value() && now > *deadline;
      indices_.erase(current.number);
      for (const size_t follower : followers_[job])
        if (--current_[follower].before == 0)
          events_.push({std::max(now, jobs_[follower].submitted), true, follower});
    }
    return scheduler_.Done(current.number, std::move(next), now);
  }

  const std::vector<SimulatedJob>& jobs_;
  const Clock& clock_;
  Scheduler scheduler_;
  std::vector<std::vector<double>> remaining_;  // for each job and stage
  std::vector<Current> current_;                // for each job
  std::vector<std::vector<size_t>> followers_;  // for each job, those that wait for it
  std::map<int64_t, size_t> indices_;           // of jobs, by the scheduler's number
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  SimulationResult result_;
};

}  // namespace

double SimulationResult::Waiting(double q) const {
  std::vector<double> seconds;
  for (const StageRun& run : runs) seconds.push_back(run.start - run.asked);
  return QuantileOf(std::move(seconds), q);
}

absl::StatusOr<SimulationResult> Simulate(const std::vector<SimulatedJob>& jobs,
                                          const std::vector<HostResources>& hosts,
                                          const SchedulingStrategy& strategy, const Clock& clock) {
  return Simulator(jobs, strategy, clock).Run(hosts);
}

}  // namespace attune
