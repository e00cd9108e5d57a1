#include "work/simulation/traces.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/processor_set.h"
#include "base/random.h"
#include "base/status.h"
#include "work/job/settings.h"

namespace attune {
namespace {

using nlohmann::json;

constexpr int64_t kMostJobs = 1'000'000, kMostDevices = 1'000'000;
constexpr int64_t kMostProcessors = 20'000'000;  // of all hosts
constexpr double kMostSeconds = 1e7;
constexpr char kDrawnDevice[] = "device/drawn";

absl::Status CheckCount(int64_t stages) {
  if (stages <= kMostSimulatedStages) return absl::OkStatus();
  return InvalidInput("the jobs have more than ", kMostSimulatedStages,
                      " stages together; ask for fewer jobs");
}

// The host with `processors` processors: those of devices first, then others, renumbered.
absl::StatusOr<HostResources> WithProcessors(HostResources host, int processors) {
  std::vector<int> order;  // old numbers
  for (const DeviceResource& device : host.devices) {
    order.insert(order.end(), device.processors.begin(), device.processors.end());
    order.insert(order.end(), device.quiet.begin(), device.quiet.end());
  }
  std::ranges::sort(order);
  order.erase(std::ranges::unique(order).begin(), order.end());
  const auto of_devices = std::ssize(order);
  if (of_devices > processors)
    return InvalidInput("a host's devices hold ", of_devices, " processors; it cannot have ", processors);
  for (int p = 0; p < host.processors && std::ssize(order) < processors; ++p) {
    if (!std::binary_search(order.begin(), order.begin() + of_devices, p)) order.push_back(p);
  }
  std::vector<int> numbers(static_cast<size_t>(host.processors), -1), caches;
  for (size_t i = 0; i < order.size(); ++i) {
    numbers[static_cast<size_t>(order[i])] = static_cast<int>(i);
    if (!host.caches.empty()) caches.push_back(host.caches[static_cast<size_t>(order[i])]);
  }
  // Processors that the host did not have get caches of their own.
  int next = host.caches.empty() ? 0 : 1 + *std::ranges::max_element(host.caches);
  while (!host.caches.empty() && std::ssize(caches) < processors) caches.push_back(next++);
  for (DeviceResource& device : host.devices) {
    for (int& processor : device.processors) processor = numbers[static_cast<size_t>(processor)];
    for (int& processor : device.quiet) processor = numbers[static_cast<size_t>(processor)];
  }
  host.caches = std::move(caches);
  host.processors = processors;
  return host;
}

bool IsSame(const HostResources& a, const HostResources& b) {
  const auto facts = [](const HostResources& host) {
    return std::tie(host.processors, host.caches, host.isolates_caches, host.keeps_device_processors,
                    host.slots);
  };
  const auto are_same = [](const DeviceResource& one, const DeviceResource& other) {
    return one.key == other.key && one.processors == other.processors && one.quiet == other.quiet;
  };
  return facts(a) == facts(b) && std::ranges::equal(a.devices, b.devices, are_same);
}

// Draws have a logarithm, unless all are 0.
bool CanBeDrawn(const SecondsPrediction& seconds) { return seconds.low > 0 || seconds.high == 0; }

absl::StatusOr<JobStage> StageOf(const json& object) {
  SettingsReader reader(object, "");
  JobStage stage;
  int processors = 1;
  bool uses_device = false;
  reader.Read("name", stage.name, /*needed=*/true);
  reader.Read("processors", processors, 1, kMaxProcessors);
  reader.Read("device", uses_device);
  reader.Read("memory_bytes", stage.memory_bytes, 0, INT64_MAX);
  const std::optional<SecondsPrediction> seconds = PredictionOfJson(reader.ReadJson("seconds"), kMostSeconds);
  if (!seconds.has_value() || !CanBeDrawn(*seconds))
    reader.Fail("seconds", "is neither a time nor three above 0 that ascend");
  RETURN_IF_ERROR(reader.Finish());
  stage.seconds = *seconds;
  stage.needs.push_back({uses_device ? kDrawnDevice : kProcessorsKey, processors, uses_device});
  return stage;
}

struct Description {
  int64_t jobs = 1, owners = 1;
  int priorities = 1;
  double arrival_seconds = 0, deadline_factor = 0;  // 0: no deadlines
  int64_t least_rounds = 1, most_rounds = 1;
  std::vector<JobStage> stages;
  HostResources host;
  int64_t devices = 1;

  // The most processors that one stage needs, of a device or of the host.
  int MostProcessors(bool of_device) const {
    int64_t most = of_device ? 1 : 0;
    for (const JobStage& stage : stages) {
      if (stage.needs[0].exclusive == of_device) most = std::max(most, stage.needs[0].amount);
    }
    return static_cast<int>(most);
  }
};

absl::Status ReadHosts(const json& object, Description& to) {
  SettingsReader reader(object, "");
  int devices_per_host = 1, per_device = to.MostProcessors(/*of_device=*/true);
  reader.Read("devices", to.devices, 1, kMostDevices);
  reader.Read("devices_per_host", devices_per_host, 1, kMaxProcessors);
  reader.Read("processors_per_device", per_device, 1, kMaxProcessors);
  const int64_t of_devices = int64_t{devices_per_host} * per_device;
  to.host.processors = static_cast<int>(
      std::min<int64_t>(of_devices + to.MostProcessors(/*of_device=*/false), kMaxProcessors));
  reader.Read("processors_per_host", to.host.processors, 1, kMaxProcessors);
  reader.Read("keeps_device_processors", to.host.keeps_device_processors);
  reader.Read("memory_bytes", to.host.memory_bytes, 0, INT64_MAX);
  if (of_devices > to.host.processors)
    reader.Fail("processors_per_host", absl::StrCat("are fewer than the ", of_devices, " of the devices"));
  RETURN_IF_ERROR(reader.Finish());
  for (int d = 0; d < devices_per_host; ++d) {
    DeviceResource& device = to.host.devices.emplace_back();
    device.key = kDrawnDevice;
    for (int p = 0; p < per_device; ++p) device.processors.push_back(d * per_device + p);
  }
  return absl::OkStatus();
}

// One number of rounds, or the least and the most.
bool ReadRounds(const json& from, Description& to) {
  if (from.is_null()) return true;
  constexpr int64_t kMostRounds = 1'000'000;
  json list = from;
  if (from.is_number()) list = {from, from};
  if (!list.is_array() || list.size() != 2) return false;
  const auto is_count = [](const json& value) {
    return value.is_number_integer() && value.get<int64_t>() >= 1 && value.get<int64_t>() <= kMostRounds;
  };
  if (!std::ranges::all_of(list, is_count)) return false;
  to.least_rounds = list[0].get<int64_t>();
  to.most_rounds = list[1].get<int64_t>();
  return to.least_rounds <= to.most_rounds;
}

absl::StatusOr<Description> DescriptionOf(const json& object) {
  SettingsReader reader(object, "");
  const json repeat = reader.ReadJson("repeat"), hosts = reader.ReadJson("hosts");
  Description description;
  reader.Read("jobs", description.jobs, 1, kMostJobs);
  reader.Read("owners", description.owners, 1, kMostJobs);
  reader.Read("priorities", description.priorities, 1, 1000);
  reader.Read("arrival_seconds", description.arrival_seconds, 0, kMostSeconds);
  reader.Read("deadline_factor", description.deadline_factor, 0, kMostSeconds);
  if (!ReadRounds(repeat, description))
    reader.Fail("repeat", "is neither a number of rounds nor the least and the most");
  for (const json& stage : reader.ReadObjects("stages", /*needed=*/true)) {
    absl::StatusOr<JobStage> read = StageOf(stage);
    if (!read.ok()) {
      reader.Fail("stages", read.status().message());
      break;
    }
    description.stages.push_back(*std::move(read));
  }
  if (description.stages.empty()) reader.Fail("stages", "is empty");
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckCount(description.most_rounds * std::ssize(description.stages)));
  RETURN_IF_ERROR(Annotate(ReadHosts(hosts, description), "hosts"));
  return description;
}

double Draw(const SecondsPrediction& quantiles, Random& random) {
  constexpr double kNormal90 = 1.2815515655446004;  // the quantile of the standard normal distribution
  constexpr double kMost = 1e9;
  const double normal = random.Normal();
  if (quantiles.low == quantiles.high) return quantiles.median;
  const double ratio = normal < 0 ? quantiles.median / quantiles.low : quantiles.high / quantiles.median;
  return std::min(quantiles.median * std::pow(ratio, normal / kNormal90), kMost);
}

SimulatedJob DrawJob(const Description& description, int64_t number, double submitted, Random& random) {
  SimulatedJob job;
  job.facts = {.id = absl::StrCat("job", number),
               .owner = absl::StrCat("owner", number % description.owners),
               .priority = static_cast<int>(number % description.priorities)};
  job.submitted = submitted;
  double predicted = 0;
  const int64_t rounds = random.Integer(description.least_rounds, description.most_rounds);
  for (int64_t round = 0; round < rounds; ++round) {
    for (const JobStage& stage : description.stages) {
      job.stages.push_back({stage, Draw(stage.seconds, random)});
      predicted += stage.seconds.median;
    }
  }
  if (description.deadline_factor > 0)
    job.facts.deadline = submitted + description.deadline_factor * predicted;
  return job;
}

}  // namespace

std::vector<SimulatedJob> JobsOfTrace(const ScheduleRecord& record) {
  std::vector<SimulatedJob> jobs;
  std::unordered_map<std::string, size_t> indices;
  for (const JobRecord& job : record.jobs) {
    indices.emplace(job.spec.id, jobs.size());
    jobs.push_back({.facts = {.id = job.spec.id,
                              .owner = job.spec.owner,
                              .priority = job.spec.priority,
                              .deadline = job.spec.deadline_seconds},
                    .submitted = HUGE_VAL,
                    .stages = {}});
  }
  for (const StageRecord& stage : record.stages) {
    const auto index = indices.find(stage.job);
    if (index == indices.end()) continue;
    SimulatedJob& job = jobs[index->second];
    job.submitted = std::min(job.submitted, stage.asked);
    if (stage.outcome == StageOutcome::kDone) job.stages.push_back({stage.stage, stage.end - stage.start});
  }
  std::erase_if(jobs, [](const SimulatedJob& job) { return job.stages.empty(); });
  return jobs;
}

std::vector<HostResources> HostsOfTraces(const std::vector<ScheduleRecord>& records) {
  std::vector<HostResources> hosts;
  for (const ScheduleRecord& record : records) {
    if (std::ranges::none_of(hosts, [&](const HostResources& host) { return IsSame(host, record.host); }))
      hosts.push_back(record.host);
  }
  return hosts;
}

absl::StatusOr<std::vector<SimulatedJob>> MixJobs(const std::vector<SimulatedJob>& jobs, int64_t count,
                                                  Mix mix) {
  if (jobs.empty()) return InvalidInput("no stage of any job has ended");
  if (count == 0) count = std::ssize(jobs);
  const auto job_at = [&](int64_t i) -> const SimulatedJob& {
    return jobs[mix == Mix::kLike ? 0 : static_cast<size_t>(i) % jobs.size()];
  };
  int64_t stages = 0;
  for (int64_t i = 0; i < count; ++i) stages += std::ssize(job_at(i).stages);
  RETURN_IF_ERROR(CheckCount(stages));
  std::unordered_set<std::string> ids;
  std::vector<SimulatedJob> mixed;
  for (int64_t i = 0; i < count; ++i) {
    const SimulatedJob& job = job_at(i);
    std::string id = job.facts.id;
    for (int64_t copy = i; !ids.insert(id).second; ++copy) id = absl::StrCat(job.facts.id, "#", copy + 1);
    mixed.push_back(job);
    mixed.back().facts.id = std::move(id);
  }
  return mixed;
}

absl::StatusOr<std::vector<HostResources>> HostsLike(const std::vector<HostResources>& likes, int64_t devices,
                                                     int processors) {
  std::vector<HostResources> hosts = likes;
  if (processors > 0) {
    for (HostResources& host : hosts) {
      ASSIGN_OR_RETURN(host, WithProcessors(std::move(host), processors));
    }
  }
  if (devices == 0 || likes.empty()) return hosts;
  const std::vector<HostResources> shapes = std::exchange(hosts, {});
  int64_t all_processors = 0;
  for (int64_t has = 0; has < devices;) {
    hosts.push_back(shapes[hosts.size() % shapes.size()]);
    has += std::max<int64_t>(std::ssize(hosts.back().devices), 1);
    all_processors += hosts.back().processors;
    if (all_processors > kMostProcessors)
      return InvalidInput("the hosts have more than ", kMostProcessors, " processors together");
  }
  return hosts;
}

absl::StatusOr<DrawnWorkload> DrawWorkload(const json& object, int64_t count, uint64_t seed) {
  if (!object.is_object()) return InvalidInput("is not an object");
  ASSIGN_OR_RETURN(const Description description, DescriptionOf(object));
  DrawnWorkload workload{.jobs = {}, .host = description.host, .devices = description.devices};
  const int64_t num_jobs = count > 0 ? count : description.jobs;
  Random seeds(seed);
  double submitted = 0;
  int64_t stages = 0;
  for (int64_t number = 0; number < num_jobs; ++number) {
    Random random(seeds.Next());
    if (number > 0) submitted -= description.arrival_seconds * std::log(1 - random.Uniform());
    workload.jobs.push_back(DrawJob(description, number, submitted, random));
    stages += std::ssize(workload.jobs.back().stages);
    RETURN_IF_ERROR(CheckCount(stages));
  }
  return workload;
}

}  // namespace attune
