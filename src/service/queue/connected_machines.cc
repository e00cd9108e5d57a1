#include "service/queue/connected_machines.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "fleet/leases/device_owners.h"

namespace attune {
namespace {

// A runner has one connection, and for moments the one that it has lost.
constexpr int kMostConnections = 4;

// A machine's host, whose processors all compute: nothing is measured there.
LocalHost HostOf(const FleetIdentity& who, RunnerOffer offer) {
  LocalHost host;
  host.device = std::move(offer.device);
  host.numbers = host.building = host.device.usable;
  host.resources.processors = static_cast<int>(host.numbers.size());
  host.resources.memory_bytes = offer.memory_bytes;
  host.resources.slots[OwnerSlot(who.owner)] = kAnyAmount;
  if (who.owner == kServersOwner && offer.confines) host.resources.slots[OwnerSlot("*")] = kAnyAmount;
  for (const std::string& program : offer.programs)
    host.resources.slots[ProgramSlot(who.owner, program)] = kAnyAmount;
  return host;
}

}  // namespace

std::string OwnerSlot(const std::string& owner) { return absl::StrCat("owner/", owner); }
std::string ProgramSlot(const std::string& owner, const std::string& program) {
  return absl::StrCat("program/", owner, "/", program);
}

int64_t ConnectedMachines::Add(const CertificateFacts& who, std::shared_ptr<RunnerLink> link) {
  ++last_;
  const auto is_its = [&](const auto& entry) { return entry.second.who.who.id == who.who.id; };
  if (std::ranges::count_if(connections_, is_its) >= kMostConnections) {
    link->Close(absl::ResourceExhaustedError(
        absl::StrCat("a runner has at most ", kMostConnections, " connections at a time")));
  } else {
    connections_[last_] = {.who = who, .link = std::move(link)};
  }
  return last_;
}

MachineConnection* ConnectedMachines::Find(int64_t number) {
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : &found->second;
}

absl::StatusOr<std::optional<int64_t>> ConnectedMachines::Join(int64_t number, RunnerOffer offer) {
  MachineConnection& connection = connections_.at(number);
  if (connection.is_there) return InvalidInput("a runner introduces itself twice");
  const std::optional<int64_t> replaced = Replace(number, connection);
  const FleetIdentity& who = connection.who.who;
  connection.machine = {
      .connection = number, .id = who.id, .owner = who.owner, .host = HostOf(who, std::move(offer))};
  connection.is_there = have_changed_ = true;
  jobs_service_proto::ToRunner welcome;
  welcome.mutable_welcome();
  connection.link->Send(welcome);
  Log(LogLevel::kInfo, "runner is here", "runner", who.id, "owner", who.owner, "processors",
      connection.machine.host.resources.processors);
  return replaced;
}

std::optional<int64_t> ConnectedMachines::Replace(int64_t number, const MachineConnection& connection) {
  const FleetIdentity& who = connection.who.who;
  const auto before = std::ranges::find_if(connections_, [&](const auto& entry) {
    return entry.first != number && entry.second.is_there && entry.second.who.who.id == who.id;
  });
  if (before == connections_.end()) return std::nullopt;
  const int64_t replaced = before->first;
  const std::string there = before->second.link->peer(), here = connection.link->peer();
  before->second.link->Close(absl::AbortedError("the same runner has connected again"));
  Remove(replaced);
  if (shared_.NoteReplaced(who.id, clock_.Now()))
    Log(LogLevel::kWarning, "a runner's credentials are used in two places", "runner", who.id, "owner",
        who.owner, "here", here, "and", there, "help",
        absl::StrCat("attune fleet revoke ", who.id, ", and invite both anew"));
  return replaced;
}

void ConnectedMachines::Remove(int64_t number) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  Log(LogLevel::kInfo, "runner is gone", "runner", found->second.who.who.id);
  connections_.erase(found);
  have_changed_ = true;
}

void ConnectedMachines::SetHost(int64_t number, int host) {
  if (MachineConnection* connection = Find(number); connection != nullptr) connection->host = host;
}

void ConnectedMachines::ForgetHosts() {
  for (auto& [number, connection] : connections_) connection.host = -1;
  have_changed_ = true;
}

std::optional<int64_t> ConnectedMachines::OnHost(int host) const {
  for (const auto& [number, connection] : connections_)
    if (connection.host == host) return number;
  return std::nullopt;
}

std::optional<std::map<int64_t, RunnerMachine>> ConnectedMachines::TakeChanged() {
  if (!std::exchange(have_changed_, false)) return std::nullopt;
  std::map<int64_t, RunnerMachine> machines;
  for (const auto& [number, connection] : connections_)
    if (connection.is_there) machines[number] = connection.machine;
  return machines;
}

}  // namespace attune
