#include "work/sched/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

constexpr const char* kKeys[] = {"builder", "device"};

SimulatedStage Stage(size_t resource, double seconds) {
  return {{kKeys[resource], {{kKeys[resource], 1, true}}, 0, {seconds, seconds, seconds}}, seconds};
}
const std::vector<HostResources> kHost = {{.slots = {{kKeys[0], 1}, {kKeys[1], 1}}}};

SimulationResult RunOf(const std::vector<SimulatedJob>& jobs, std::string_view strategy,
                       const std::vector<HostResources>& hosts = kHost) {
  const auto result = Simulate(jobs, hosts, *FindSchedulingStrategy(strategy));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(SimulationResult());
}

TEST(Simulation, InterleavesWhatSequentialDoesNot) {
  std::vector<SimulatedJob> jobs;
  for (const char* id : {"a", "b"}) jobs.push_back({{.id = id}, 0, {Stage(0, 2), Stage(1, 2), Stage(0, 2)}});
  EXPECT_EQ(RunOf(jobs, "sequential").makespan, 12);
  const SimulationResult interleaved = RunOf(jobs, "first_come");
  EXPECT_EQ(interleaved.makespan, 8);
  EXPECT_EQ(interleaved.runs.size(), 6);
  EXPECT_EQ(interleaved.Waiting(0), 0);
  EXPECT_EQ(interleaved.Waiting(1), 2);
}

TEST(Simulation, CountsMissedDeadlines) {
  const std::vector<SimulatedJob> jobs = {{{.id = "a", .deadline = 5}, 0, {Stage(0, 4)}},
                                          {{.id = "b", .deadline = 5}, 1, {Stage(0, 4)}}};
  EXPECT_EQ(RunOf(jobs, "first_come").missed_deadlines, 1);
}

TEST(Simulation, NamesAStageThatCanNeverRun) {
  const std::vector<SimulatedJob> jobs = {{{.id = "a"}, 0, {{{"fly", {{"wings", 2, false}}, 0, {}}, 1}}}};
  EXPECT_THAT(Simulate(jobs, kHost, *FindSchedulingStrategy("first_come")).status().message(),
              HasSubstr("job \"a\": no machine has what its stage \"fly\" needs"));
}

// The least makespan of jobs on the two resources, by trying all active schedules (Giffler and Thompson,
// Algorithms for solving production-scheduling problems, 1960): of the stages that could end first, and of
// those that compete with it, each is tried as the next one on that resource.
class BruteForce {
 public:
  explicit BruteForce(const std::vector<SimulatedJob>& jobs)
      : jobs_(jobs),
        stage_(jobs.size()),
        ready_(jobs.size()),
        best_(std::numeric_limits<double>::infinity()) {}

  double Run() {
    Search(0);
    return best_;
  }

 private:
  static size_t ResourceOf(const SimulatedStage& stage) { return stage.stage.name == kKeys[0] ? 0 : 1; }

  // No schedule ends before what is left of a job, or of a resource.
  double Bound() const {
    double bound = 0, left[2] = {free_[0], free_[1]};
    for (size_t job = 0; job < jobs_.size(); ++job) {
      double end = ready_[job];
      for (size_t s = stage_[job]; s < jobs_[job].stages.size(); ++s) {
        end += jobs_[job].stages[s].seconds;
        left[ResourceOf(jobs_[job].stages[s])] += jobs_[job].stages[s].seconds;
      }
      bound = std::max(bound, end);
    }
    return std::max({bound, left[0], left[1]});
  }

  double StartOf(size_t job) const {
    return std::max(ready_[job], free_[ResourceOf(jobs_[job].stages[stage_[job]])]);
  }

  void Search(double makespan) {
    if (Bound() >= best_) return;
    size_t first = jobs_.size();
    const auto end_of = [&](size_t job) { return StartOf(job) + jobs_[job].stages[stage_[job]].seconds; };
    for (size_t job = 0; job < jobs_.size(); ++job) {
      if (stage_[job] == jobs_[job].stages.size()) continue;
      if (first == jobs_.size() || end_of(job) < end_of(first)) first = job;
    }
    if (first == jobs_.size()) {
      best_ = makespan;
      return;
    }
    const size_t resource = ResourceOf(jobs_[first].stages[stage_[first]]);
    const double earliest = end_of(first);
    for (size_t job = 0; job < jobs_.size(); ++job) {
      if (stage_[job] == jobs_[job].stages.size()) continue;
      if (ResourceOf(jobs_[job].stages[stage_[job]]) != resource || StartOf(job) >= earliest) continue;
      const double ready = ready_[job], free = free_[resource], end = end_of(job);
      ++stage_[job];
      ready_[job] = free_[resource] = end;
      Search(std::max(makespan, end));
      --stage_[job];
      ready_[job] = ready;
      free_[resource] = free;
    }
  }

  const std::vector<SimulatedJob>& jobs_;
  std::vector<size_t> stage_;  // the next one of each job
  std::vector<double> ready_;  // when each job's last one ends
  double free_[2] = {0, 0};    // when each resource's last one ends
  double best_;
};

TEST(Simulation, PredictiveIsNearTheOptimum) {
  constexpr int kInstances = 1000;
  double ratios = 0, of_first_come = 0;
  for (uint64_t seed = 0; seed < kInstances; ++seed) {
    Random random(seed);
    std::vector<SimulatedJob> jobs(static_cast<size_t>(random.Integer(1, 4)));
    for (size_t job = 0; job < jobs.size(); ++job) {
      jobs[job].facts.id = absl::StrCat("job", job);
      const int64_t stages = random.Integer(1, 5);
      for (int64_t s = 0; s < stages; ++s)
        jobs[job].stages.push_back(
            Stage(static_cast<size_t>(random.Integer(0, 1)), 1 + 9 * random.Uniform()));
    }
    const double optimum = BruteForce(jobs).Run(), predictive = RunOf(jobs, "predictive").makespan;
    ASSERT_GE(predictive, optimum * (1 - 1e-9)) << seed;
    ratios += predictive / optimum;
    of_first_come += RunOf(jobs, "first_come").makespan / optimum;
  }
  EXPECT_LE(ratios / kInstances, 1.10);
  EXPECT_LE(ratios, of_first_come);
}

}  // namespace
}  // namespace attune
