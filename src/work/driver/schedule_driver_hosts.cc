// The places of a schedule's stages: hosts, and devices elsewhere.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "work/driver/schedule_driver.h"

namespace attune {
namespace {

// The slots of a host on which this runner's jobs stay, and of a device elsewhere: one for each key that it
// is asked for by, and one for the job that measures there.
std::string RunnerSlot(int host) { return absl::StrCat("runner/", host); }
std::string DeviceSlot(const std::string& key) { return absl::StrCat("elsewhere/", key); }
constexpr char kWholeDevice[] = "device elsewhere";

std::map<std::string, int64_t> DeviceSlots(const std::set<std::string>& keys) {
  std::map<std::string, int64_t> slots = {{kWholeDevice, 1}};
  for (const std::string& key : keys) slots[DeviceSlot(key)] = kAnyAmount;
  return slots;
}

bool HasSlots(const HostResources& host, const JobGroup& group) {
  return std::ranges::all_of(group, [&](const std::string& slot) { return FindSlot(host, slot) != nullptr; });
}

}  // namespace

int ScheduleDriver::AddHost(LocalHost host, const std::string& name) {
  if (hosts_.empty() && !options_.is_endless) {
    schedule_.host = host.resources;
    // Stages of a larger pool have used processors that this one lacks.
    const auto is_missing = [&](int processor) { return processor >= schedule_.host.processors; };
    for (StageRecord& stage : schedule_.stages) {
      std::erase_if(stage.processors, is_missing);
      std::erase_if(stage.held, is_missing);
    }
  }
  const int number = scheduler_.ledger().next_host();
  host.resources.slots[RunnerSlot(number)] = kAnyAmount;
  scheduler_.AddHost(host.resources);
  hosts_[number] = {std::move(host), name};
  for (const size_t refused : admission_.TakeRefused()) Wait(refused);
  return number;
}

int ScheduleDriver::AddDevice(const std::set<std::string>& keys) {
  const int number = scheduler_.AddHost({.slots = DeviceSlots(keys)});
  for (const size_t refused : admission_.TakeRefused()) Wait(refused);
  return number;
}

void ScheduleDriver::ChangeDevice(int device, const std::set<std::string>& keys) {
  scheduler_.SetSlots(device, DeviceSlots(keys));
  RefuseUngrantable();
  for (const size_t refused : admission_.TakeRefused()) Wait(refused);
}

std::string ScheduleDriver::DeviceKeyOf(const JobSpec& job) const {
  return options_.device_key ? options_.device_key(job) : job.on;
}

absl::Status ScheduleDriver::RemoveHost(int host) {
  std::vector<int64_t> runners;
  for (const auto& [runner, its_host] : host_of_runner_)
    if (its_host == host) runners.push_back(runner);
  for (const int64_t runner : runners) {
    const size_t number = by_runner_.at(runner);
    JobManager& job = jobs_.at(number);
    if (job.runs()) {
      RETURN_IF_ERROR(Record(number, StopStage(number, "its host is gone")));
    } else {
      ForgetRunner(runner);
      runners_.End(runner);
      job.LeaveRunner();
      RETURN_IF_ERROR(AskElsewhere(number));
    }
  }
  scheduler_.RemoveHost(host, Now());
  hosts_.erase(host);
  // Parts that were to be opened there find another one.
  std::vector<size_t> waiting;
  for (const auto& [number, scheduled] : numbers_) {
    const JobManager& job = jobs_.at(number);
    const bool has_chosen = job.record().spec.part > 0 || moving_.contains(number);
    if (has_chosen && job.runner() == 0 && !job.runs()) waiting.push_back(number);
  }
  for (const size_t number : waiting) RETURN_IF_ERROR(AskAgain(number, /*has_run=*/false));
  RefuseUngrantable();
  return absl::OkStatus();
}

void ScheduleDriver::RemoveDevice(int device) {
  if (devices_in_use_.contains(device)) {
    devices_gone_.insert(device);
  } else {
    scheduler_.RemoveHost(device, Now());
    RefuseUngrantable();
  }
}

void ScheduleDriver::ReleaseDevice(size_t number) {
  const auto found =
      std::ranges::find(devices_in_use_, number, [](const auto& entry) { return entry.second; });
  if (found == devices_in_use_.end()) return;
  const int device = found->first;
  devices_in_use_.erase(found);
  if (devices_gone_.erase(device) == 0) return;
  scheduler_.RemoveHost(device, Now());
  RefuseUngrantable();
}

void ScheduleDriver::RefuseUngrantable() {
  for (const int64_t scheduled : scheduler_.Ungrantable()) {
    const size_t number = by_number_.at(scheduled);
    const JobManager& job = jobs_.at(number);
    const absl::Status why = scheduler_.CheckGrantable(job.facts(), scheduler_.stage(scheduled));
    scheduler_.Drop(scheduled);
    Leave(number);
    admission_.Refuse(number, std::string(why.message()), /*is_in_memory=*/job.runner() != 0);
  }
}

JobGroup ScheduleDriver::GroupOf(const JobManager& job) const {
  return options_.slots_of ? options_.slots_of(job.record().spec) : JobGroup();
}

int64_t ScheduleDriver::MostOf(const JobGroup& group) const {
  int64_t own = 0, shared = 0;
  for (const auto& [number, host] : hosts_) {
    const HostResources& resources = host.host.resources;
    if (!HasSlots(resources, group)) continue;
    const bool is_own =
        std::ranges::all_of(group, [&](const std::string& slot) { return resources.slots.contains(slot); });
    ++(is_own ? own : shared);
  }
  // Without any, all are told what they wait for.
  if (own + shared == 0) return options_.jobs_at_once;
  // Groups share the memory of hosts that several may be on.
  constexpr int64_t kLeast = 2;
  const int64_t part = options_.jobs_at_once * shared / std::max<int64_t>(admission_.num_groups(), 1);
  return options_.jobs_at_once * own + (shared > 0 ? std::max(part, kLeast) : 0);
}

// A part goes to the host that has the fewest jobs, so that parts that build do not wait for each other.
// Nothing for other jobs, which share hosts as they come, and if there is no choice.
std::optional<int> ScheduleDriver::LeastBusyHost(const JobManager& job) const {
  for (const auto& [number, host] : moving_)
    if (&jobs_.at(number) == &job && hosts_.contains(host)) return host;
  if (job.record().spec.part == 0) return std::nullopt;
  const JobGroup group = GroupOf(job);
  std::map<int, int64_t> busy;
  for (const auto& [number, host] : hosts_) {
    if (HasSlots(host.host.resources, group)) busy[number] = 0;
  }
  if (busy.size() < 2) return std::nullopt;
  for (const auto& [runner, host] : host_of_runner_)
    if (busy.contains(host)) ++busy[host];
  // Jobs that are about to be opened there count too.
  for (const auto& [scheduled, number] : by_number_) {
    for (const ResourceNeed& need : scheduler_.stage(scheduled).needs)
      for (auto& [host, count] : busy)
        if (jobs_.at(number).runner() == 0 && need.key == RunnerSlot(host)) ++count;
  }
  return std::ranges::min_element(busy, {}, [](const auto& entry) { return entry.second; })->first;
}

// It is opened again there, so it has to have waited for as long as that takes. One at a time, as it changes
// what is idle.
absl::Status ScheduleDriver::MoveFromBusyHost() {
  constexpr double kLeastPatience = 5;  // seconds
  if (!options_.is_endless || hosts_.size() < 2) return absl::OkStatus();
  for (const auto& [number, scheduled] : numbers_) {
    JobManager& job = jobs_.at(number);
    const bool waits = job.runner() != 0 && !job.runs() && !job.measures_elsewhere();
    if (!waits || Now() - job.asked() < std::max(kLeastPatience, job.opening_seconds())) continue;
    JobStage stage = job.stage();
    for (const std::string& slot : GroupOf(job)) stage.needs.push_back({.key = slot});
    const std::optional<int> idle = scheduler_.FreeHost(stage);
    const int64_t runner = job.runner();
    if (!idle || !hosts_.contains(*idle) || *idle == host_of_runner_.at(runner)) continue;
    moving_[number] = *idle;
    ForgetRunner(runner);
    runners_.End(runner);
    job.LeaveRunner();
    return AskElsewhere(number);
  }
  return absl::OkStatus();
}

NextStage ScheduleDriver::Ask(JobManager& job) {
  // The job's host, or the one that it will have if there is no other.
  const auto host = job.runner() != 0 ? hosts_.find(host_of_runner_.at(job.runner())) : hosts_.begin();
  const bool is_known = job.runner() != 0 || hosts_.size() == 1;
  NextStage next = job.Ask(predictions_, is_known ? host->second.host.device.fingerprint : "", Now());
  std::vector<ResourceNeed>& needs = next.stage.needs;
  if (job.measures_elsewhere()) {
    needs = {{.key = DeviceSlot(DeviceKeyOf(job.record().spec))}, {.key = kWholeDevice}};
    next.stage.memory_bytes = 0;
  } else if (job.runner() != 0) {
    needs.push_back({.key = RunnerSlot(host_of_runner_.at(job.runner()))});
  } else {
    for (const std::string& slot : GroupOf(job)) needs.push_back({.key = slot});
    if (const auto least = LeastBusyHost(job)) needs.push_back({.key = RunnerSlot(*least)});
  }
  return next;
}

RunStage ScheduleDriver::Command(const JobManager& job, const Holding& holding) const {
  const LocalHost& host = hosts_.at(host_of_runner_.at(job.runner())).host;
  const std::vector<DeviceResource>& devices = host.resources.devices;
  const bool measures = !devices.empty() && job.stage().NeedsExclusively(devices.front().key);
  RunStage run;
  if (!strategy_->is_coordinated) {
    run.processors = measures ? host.measuring : host.building;
    return run;
  }
  for (const int processor : holding.granted)
    run.processors.push_back(host.numbers[static_cast<size_t>(processor)]);
  // A stage that waits for a device elsewhere holds no processor here, which that device may be made of.
  const bool waits = run.processors.empty() && !job.record().spec.on.empty();
  // A stage that needs no processor must not run on the device's either.
  if (run.processors.empty()) run.processors = host.building;
  if (waits) return run;
  run.lease = measures ? StageLease::kExclusive : StageLease::kShared;
  run.isolation = host.isolation;
  return run;
}

}  // namespace attune
