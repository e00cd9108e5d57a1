// The hosts and devices of a schedule as they come and go, and what its jobs ask of them.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "work/driver/schedule_driver.h"
#include "work/job/stage_prior.h"

namespace attune {

int ScheduleDriver::AddHost(LocalHost host, const std::string& name) {
  if (!options_.is_endless && hosts_.size() == 0) log_.SetHost(host.resources);
  const int number = scheduled_.next_host();
  host.resources.slots[RunnerSlot(number)] = kAnyAmount;
  scheduled_.AddHost(host.resources);
  hosts_.Add(number, std::move(host), name);
  Readmit();
  return number;
}

absl::Status ScheduleDriver::RemoveHost(int host) {
  for (const auto& [runner, number] : runners_.RunnersOn(host)) {
    JobManager& job = jobs_.at(number);
    if (job.runs()) {
      RETURN_IF_ERROR(Record(number, StopStage(number, "its host is gone")));
    } else {
      runners_.End(runner);
      job.LeaveRunner();
      RETURN_IF_ERROR(AskElsewhere(number));
    }
  }
  scheduled_.RemoveHost(host, Now());
  hosts_.Remove(host);
  // Parts that were to be opened there find another one.
  for (const size_t number : scheduled_.Jobs()) {
    const JobManager& job = jobs_.at(number);
    const bool has_chosen = job.record().spec.part > 0 || runners_.DestinationOf(number).has_value();
    if (has_chosen && job.runner() == 0 && !job.runs()) RETURN_IF_ERROR(AskAgain(number, /*has_run=*/false));
  }
  RefuseUngrantable();
  return absl::OkStatus();
}

int ScheduleDriver::AddDevice(const std::set<std::string>& keys) {
  const int number = scheduled_.AddHost({.slots = RemoteDeviceSlots(keys)});
  Readmit();
  return number;
}

void ScheduleDriver::ChangeDevice(int device, const std::set<std::string>& keys) {
  scheduled_.SetSlots(device, RemoteDeviceSlots(keys));
  RefuseUngrantable();
  Readmit();
}

void ScheduleDriver::RemoveDevice(int device) {
  if (devices_.Remove(device)) DropDevice(device);
}

void ScheduleDriver::DropDevice(int device) {
  scheduled_.RemoveHost(device, Now());
  RefuseUngrantable();
}

void ScheduleDriver::RefuseUngrantable() {
  for (auto& [number, why] : scheduled_.WithdrawUngrantable())
    admission_.Refuse(number, std::move(why), /*is_in_memory=*/jobs_.at(number).runner() != 0);
}

absl::Status ScheduleDriver::Refuse(size_t number, const absl::Status& why) {
  JobManager& job = jobs_.at(number);
  // A host or a device may come; but the host that the job is on stays as it is.
  if (options_.is_endless && (job.runner() == 0 || job.measures_elsewhere())) {
    admission_.Refuse(number, std::string(why.message()), /*is_in_memory=*/job.runner() != 0);
    return absl::OkStatus();
  }
  job.Fail(options_.is_endless ? absl::StrCat("its machine does not have what its stage \"", job.stage().name,
                                              "\" needs: ", NeedsText(job.stage()))
                               : std::string(why.message()));
  return SetOver(number);
}

void ScheduleDriver::Wait(size_t number) {
  const JobManager& job = jobs_.at(number);
  StageRequest request;
  request.job = static_cast<int64_t>(number);
  request.remaining = StagePrior(job.record().spec.kind, "").median;
  admission_.Wait(number, options_.GroupOf(job.record().spec),
                  scheduled_.strategy().key(request, job.facts()));
}

void ScheduleDriver::Readmit() {
  for (const size_t refused : admission_.TakeRefused()) Wait(refused);
}

absl::Status ScheduleDriver::Admit() {
  const auto most = [&](const JobGroup& group) {
    return hosts_.RoomFor(group, options_.jobs_at_once, admission_.num_groups());
  };
  while (const std::optional<size_t> number = admission_.Take(most)) {
    const absl::Status status = scheduled_.Submit(*number, jobs_.at(*number).facts(), Ask(*number), Now());
    if (!status.ok()) RETURN_IF_ERROR(Refuse(*number, status));
  }
  return absl::OkStatus();
}

NextStage ScheduleDriver::Ask(size_t number) {
  JobManager& job = jobs_.at(number);
  const JobSpec& spec = job.record().spec;
  // The job's host, or the one that it will have if there is no other.
  std::optional<int> host;
  if (job.runner() != 0) host = runners_.HostOf(job.runner());
  NextStage next = job.Ask(predictions_.all(), hosts_.FingerprintOf(host), Now());
  std::vector<ResourceNeed>& needs = next.stage.needs;
  if (job.measures_elsewhere()) {
    needs = RemoteDeviceNeeds(options_.DeviceKeyOf(spec));
    next.stage.memory_bytes = 0;
  } else if (host) {
    needs.push_back({.key = RunnerSlot(*host)});
  } else {
    for (const std::string& slot : options_.GroupOf(spec)) needs.push_back({.key = slot});
    if (const std::optional<int> chosen = ChooseHost(number)) needs.push_back({.key = RunnerSlot(*chosen)});
  }
  return next;
}

absl::Status ScheduleDriver::AskAgain(size_t number, bool has_run) {
  NextStage next = Ask(number);
  const absl::Status status = has_run ? scheduled_.Done(number, std::move(next), Now())
                                      : scheduled_.Change(number, std::move(next), Now());
  return status.ok() ? status : Refuse(number, status);
}

absl::Status ScheduleDriver::AskElsewhere(size_t number) {
  if (scheduled_.contains(number)) return AskAgain(number, /*has_run=*/false);
  Wait(number);
  return absl::OkStatus();
}

// A part goes to the host that has the fewest jobs, so that parts that build do not wait for each other.
// Other jobs share hosts as they come.
std::optional<int> ScheduleDriver::ChooseHost(size_t number) const {
  const std::optional<int> destination = runners_.DestinationOf(number);
  if (destination && hosts_.contains(*destination)) return destination;
  const JobSpec& spec = jobs_.at(number).record().spec;
  if (spec.part == 0) return std::nullopt;
  std::map<std::string, int64_t> asking;
  for (const size_t other : scheduled_.Jobs()) {
    if (jobs_.at(other).runner() != 0) continue;
    for (const ResourceNeed& need : scheduled_.StageOf(other).needs) ++asking[need.key];
  }
  return hosts_.LeastBusy(options_.GroupOf(spec), runners_.CountByHost(), asking);
}

// It is opened again there, so it has to have waited for as long as that takes. One at a time, as it changes
// what is idle.
absl::Status ScheduleDriver::MoveFromBusyHost() {
  constexpr double kLeastPatience = 5;  // seconds
  if (!options_.is_endless || hosts_.size() < 2) return absl::OkStatus();
  for (const size_t number : scheduled_.Jobs()) {
    JobManager& job = jobs_.at(number);
    const bool waits = job.runner() != 0 && !job.runs() && !job.measures_elsewhere();
    if (!waits || Now() - job.asked() < std::max(kLeastPatience, job.opening_seconds())) continue;
    JobStage stage = job.stage();
    for (const std::string& slot : options_.GroupOf(job.record().spec)) stage.needs.push_back({.key = slot});
    const std::optional<int> idle = scheduled_.FreeHost(stage);
    if (!idle || !hosts_.contains(*idle) || *idle == runners_.HostOf(job.runner())) continue;
    runners_.Move(job.runner(), *idle);
    job.LeaveRunner();
    return AskElsewhere(number);
  }
  return absl::OkStatus();
}

}  // namespace attune
