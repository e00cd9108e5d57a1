#include "service/queue/schedule_hosts.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "fleet/leases/device_owners.h"
#include "work/sched/scheduler.h"

namespace attune {

std::string DeviceKeyOf(const JobSpec& job) { return absl::StrCat(job.owner, "\n", job.on); }

absl::Status ScheduleHosts::UpdateMachines() {
  auto changed = hub_.TakeChangedMachines();
  if (!changed) return absl::OkStatus();
  machines_ = *std::move(changed);
  LearnEnrolled();
  for (auto known = hosts_.begin(); known != hosts_.end();) {
    if (machines_.contains(known->first)) {
      ++known;
      continue;
    }
    const int host = known->second;
    known = hosts_.erase(known);
    RETURN_IF_ERROR(driver_.RemoveHost(host));
  }
  for (const auto& [connection, machine] : machines_) {
    if (hosts_.contains(connection)) continue;
    const int host = driver_.AddHost(machine.host, machine.id);
    hosts_[connection] = host;
    hub_.SetHost(connection, host);
  }
  return absl::OkStatus();
}

// Machines that are away may come back.
void ScheduleHosts::LearnEnrolled() {
  since_learned_.Lap();
  const absl::StatusOr<std::vector<IssuedCertificate>> certificates =
      store_.ValidCertificates(SystemClock().WallMillis());
  if (!certificates.ok()) {
    Log(LogLevel::kWarning, "runners that are away are not known", "reason", certificates.status().message());
    return;
  }
  enrolled_.clear();
  for (const IssuedCertificate& certificate : *certificates)
    if (certificate.facts.who.role == FleetRole::kRunner)
      enrolled_[certificate.facts.who.id] = certificate.facts.who.owner;
}

void ScheduleHosts::Expect(const JobSpec& job) {
  if (!job.on.empty() && asked_.try_emplace({job.owner, job.on}, job).second) is_out_of_date_ = true;
}

void ScheduleHosts::UpdateDevices() {
  is_out_of_date_ = false;
  std::map<std::string, std::set<std::string>> there;
  for (const fleet_proto::Device& device : directory_.Devices(""))
    if (device.is_there() && device.drained().empty()) there[device.id()];
  for (const auto& [asked, job] : asked_) {
    for (const std::string& id : directory_.Meant(job.owner, job.on))
      if (const auto device = there.find(id); device != there.end()) device->second.insert(DeviceKeyOf(job));
  }
  std::erase_if(devices_, [&](const auto& known) {
    if (there.contains(known.first)) return false;
    driver_.RemoveDevice(known.second.number);
    return true;
  });
  for (auto& [id, keys] : there) {
    const auto known = devices_.find(id);
    if (known == devices_.end()) {
      devices_[id] = {driver_.AddDevice(keys), keys};
    } else if (known->second.keys != keys) {
      driver_.ChangeDevice(known->second.number, keys);
      known->second.keys = std::move(keys);
    }
  }
}

MachineLack ScheduleHosts::LackOf(const std::string& owner) {
  std::set<std::string> there;
  bool is_open = true;
  for (const auto& [connection, machine] : machines_) {
    if (FindSlot(machine.host.resources, OwnerSlot(owner)) != nullptr) return {};
    there.insert(machine.id);
    is_open = is_open && machine.owner != kServersOwner;
  }
  // All of them are read for each look.
  constexpr double kLookSeconds = 1;
  if (since_learned_.Seconds() > kLookSeconds) LearnEnrolled();
  for (const auto& [id, its_owner] : enrolled_) {
    if (there.contains(id) || (its_owner != owner && its_owner != kServersOwner)) continue;
    return {.waits_for = absl::StrCat("its machine to come back: ", id, " is not connected"),
            .is_away = true};
  }
  return {.waits_for = absl::StrCat(
              "a machine that runs jobs of ", owner, ": ",
              is_open ? "none has joined" : "the server's own cannot keep jobs from each other's files",
              "; an operator invites one with attune fleet invite --role runner --owner ", owner)};
}

std::string ScheduleHosts::DeviceWaitedFor(const JobSpec& job) const {
  std::string why;
  for (const fleet_proto::Device& device : directory_.DevicesFor(job.owner, job.on)) {
    if (device.is_there() && device.drained().empty()) return "its device";
    why = device.is_there() ? absl::StrCat(device.id(), " to be given out again: ", device.drained())
                            : absl::StrCat("its device to come back: ", device.id(), " is not connected");
  }
  return why.empty() ? absl::StrCat("a device: ", directory_.CheckKey(job.on, job.owner).message()) : why;
}

std::string ScheduleHosts::WhatFor(const JobManager& job) {
  const JobSpec& spec = job.record().spec;
  if (job.measures_elsewhere()) return DeviceWaitedFor(spec);
  if (MachineLack lack = LackOf(spec.owner); !lack.waits_for.empty()) return lack.waits_for;
  if (spec.settings.is_object() && spec.settings.contains("program") &&
      spec.settings["program"].is_string()) {
    const std::string program = spec.settings["program"];
    const auto lists = [&](const auto& entry) {
      return FindSlot(entry.second.host.resources, ProgramSlot(spec.owner, program)) != nullptr;
    };
    if (std::ranges::none_of(machines_, lists))
      return absl::StrCat("a machine of ", spec.owner, " that lists the program ", program);
  }
  return absl::StrCat("a machine with ", NeedsText(job.stage()), "; those that run its jobs have less");
}

}  // namespace attune
