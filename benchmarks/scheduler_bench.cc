// How long the scheduler's decisions take with very many devices and jobs.
//
//     scheduler_bench [DEVICES] [JOBS]     (default: 100000 10000)
//
// Each job builds on any host's processors, then measures on one of sixteen kinds of devices, and so on for
// twenty stages of random length. All jobs are submitted at once, to all devices and then to sixteen, where
// nearly all wait. Prints a line for each strategy: decisions a second, the 50th and 99th percentile of a
// decision, and the most memory that the process has had.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "work/sched/simulation.h"

namespace attune {
namespace {

constexpr int64_t kKinds = 16;

std::vector<HostResources> Hosts(int64_t devices) {
  std::vector<HostResources> hosts;
  for (int64_t i = 0; i < devices; ++i)
    hosts.push_back({.processors = 2, .devices = {{absl::StrCat("device/", i % kKinds), {1}}}});
  return hosts;
}

std::vector<SimulatedJob> Jobs(int64_t count) {
  constexpr int kStages = 20;
  Random random(1);
  std::vector<SimulatedJob> jobs;
  for (int64_t i = 0; i < count; ++i) {
    SimulatedJob& job = jobs.emplace_back();
    job.facts = {.id = absl::StrCat(i), .owner = absl::StrCat(i % 50), .priority = static_cast<int>(i % 3)};
    const std::string device = absl::StrCat("device/", random.Integer(0, kKinds - 1));
    for (int s = 0; s < kStages; ++s) {
      const double seconds = 1 + 9 * random.Uniform();
      const ResourceNeed need =
          s % 2 == 0 ? ResourceNeed{kProcessorsKey, 1, false} : ResourceNeed{device, 1, true};
      job.stages.push_back(
          {{s % 2 == 0 ? "build" : "time", {need}, 0, {seconds, seconds, seconds}}, seconds});
    }
  }
  return jobs;
}

int Bench(int64_t devices, int64_t num_jobs) {
  const std::vector<SimulatedJob> jobs = Jobs(num_jobs);
  for (const int64_t count : {devices, kKinds}) {
    const std::vector<HostResources> hosts = Hosts(count);
    for (const SchedulingStrategy& strategy : AllSchedulingStrategies()) {
      if (strategy.dedicates_hosts) continue;  // needs as many hosts of a kind as there are jobs
      const Stopwatch watch;
      absl::StatusOr<SimulationResult> result = Simulate(jobs, hosts, strategy);
      if (!result.ok()) {
        std::fprintf(stderr, "%s\n", std::string(result.status().message()).c_str());
        return 1;
      }
      const double seconds = watch.Seconds();
      std::vector<double>& times = result->decision_seconds;
      std::ranges::sort(times);
      rusage used = {};
      getrusage(RUSAGE_SELF, &used);
      std::printf("%-14s %7ld devices %6ld jobs: %8.0f decisions/s, p50 %.4f ms, p99 %.4f ms, %ld MiB\n",
                  std::string(strategy.name).c_str(), count, num_jobs,
                  static_cast<double>(times.size()) / seconds, 1e3 * times[times.size() / 2],
                  1e3 * times[times.size() * 99 / 100], used.ru_maxrss / 1024);
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  return attune::Bench(argc > 1 ? std::atoll(argv[1]) : 100000, argc > 2 ? std::atoll(argv[2]) : 10000);
}
