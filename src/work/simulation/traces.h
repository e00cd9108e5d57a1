// Jobs and hosts for simulations (work/sched/simulation.h): taken from what a schedule did, or drawn at
// random.
#ifndef ATTUNE_WORK_SIMULATION_TRACES_H_
#define ATTUNE_WORK_SIMULATION_TRACES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "work/sched/resources.h"
#include "work/sched/simulation.h"
#include "work/store/stage_log.h"

namespace attune {

// More stages would take more memory than a machine can be expected to have.
inline constexpr int64_t kMostSimulatedStages = 4'000'000;

// The jobs of the schedule that have run at all: each job's stages that are done, in order, with the seconds
// that they took. Stages that failed or were lost are left out. A job is submitted when it first asked for a
// stage.
std::vector<SimulatedJob> JobsOfTrace(const ScheduleRecord& record);

// The hosts of the schedules, each once: hosts that differ in nothing but their memory are one.
std::vector<HostResources> HostsOfTraces(const std::vector<ScheduleRecord>& records);

// Which jobs a larger mix consists of.
enum class Mix : uint8_t {
  kUnlike,  // all of them by turns
  kLike,    // the first one again and again
};

// `count` jobs, with ids that differ; 0: each job once. Fails if there are no jobs, or if there would be too
// many stages.
absl::StatusOr<std::vector<SimulatedJob>> MixJobs(const std::vector<SimulatedJob>& jobs, int64_t count,
                                                  Mix mix);

// Hosts that are like these, in rotation: enough to have at least `devices` devices together (hosts without
// devices count as one), or each once if that is 0. With `processors` > 0, each host has this many
// processors: those of its devices, and as many others as fit. Fails if the devices are made of more.
absl::StatusOr<std::vector<HostResources>> HostsLike(const std::vector<HostResources>& likes, int64_t devices,
                                                     int processors);

// Jobs and hosts that are described by their distributions:
//
//   {"jobs": 100, "arrival_seconds": 60, "deadline_factor": 3, "owners": 4, "priorities": 2,
//    "stages": [{"name": "build", "processors": 4, "seconds": [5, 10, 20]},
//               {"name": "time", "device": true, "memory_bytes": 100000000, "seconds": [8, 9, 12]}],
//    "repeat": [5, 20],
//    "hosts": {"devices": 8, "devices_per_host": 2, "processors_per_device": 1, "processors_per_host": 8,
//              "keeps_device_processors": true, "memory_bytes": 16000000000}}
//
// A stage's seconds are one number, or its quantiles of 10, 50 and 90 percent; a duration is drawn from two
// halves of log-normal distributions that have them. They are its prediction too. A stage with a device runs
// on processors of the device, and holds it. arrival_seconds is the mean time from one job to the next,
// exponentially distributed (0: all at once). A deadline is deadline_factor times the job's predicted work
// after its submission. repeat is how often a job runs the list of stages, or the least and the most. Without
// hosts, there is one device on a host that any of the stages fits on.
struct DrawnWorkload {
  std::vector<SimulatedJob> jobs;
  HostResources host;
  int64_t devices = 0;
};

// `count`: of jobs, instead of the described one; 0: as described. The same seed gives the same jobs on every
// machine, and the first ones are the same whatever the count. Fails, naming the field, if the description is
// wrong.
absl::StatusOr<DrawnWorkload> DrawWorkload(const nlohmann::json& description, int64_t count, uint64_t seed);

}  // namespace attune

#endif  // ATTUNE_WORK_SIMULATION_TRACES_H_
