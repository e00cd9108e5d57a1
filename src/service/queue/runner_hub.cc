#include "service/queue/runner_hub.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/status.h"
#include "fleet/leases/device_owners.h"
#include "service/queue/built_artifact.h"
#include "service/wire/checked_messages.h"
#include "service/wire/job_files.h"
#include "work/driver/runner_messages.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

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

int64_t RunnerHub::Add(const CertificateFacts& who, std::shared_ptr<RunnerLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++last_connection_;
  const auto is_its = [&](const auto& entry) { return entry.second.who.who.id == who.who.id; };
  if (std::ranges::count_if(connections_, is_its) >= kMostConnections) {
    link->Close(absl::ResourceExhaustedError(
        absl::StrCat("a runner has at most ", kMostConnections, " connections at a time")));
  } else {
    connections_[last_connection_] = {.who = who, .link = std::move(link)};
  }
  return last_connection_;
}

absl::Status RunnerHub::Join(int64_t number, Connection& connection, RunnerOffer offer) {
  if (connection.is_there) return InvalidInput("a runner introduces itself twice");
  Replace(number, connection);
  connection.machine = {.connection = number,
                        .id = connection.who.who.id,
                        .owner = connection.who.who.owner,
                        .host = HostOf(connection.who.who, std::move(offer))};
  connection.is_there = have_machines_changed_ = true;
  proto::ToRunner welcome;
  welcome.mutable_welcome();
  connection.link->Send(welcome);
  Log(LogLevel::kInfo, "runner is here", "runner", connection.who.who.id, "owner", connection.who.who.owner,
      "processors", connection.machine.host.resources.processors);
  return absl::OkStatus();
}

void RunnerHub::Replace(int64_t number, const Connection& connection) {
  const FleetIdentity& who = connection.who.who;
  const auto before = std::ranges::find_if(connections_, [&](const auto& entry) {
    return entry.first != number && entry.second.is_there && entry.second.who.who.id == who.id;
  });
  if (before == connections_.end()) return;
  const std::string there = before->second.link->peer(), here = connection.link->peer();
  before->second.link->Close(absl::AbortedError("the same runner has connected again"));
  Erase(before->first);
  if (!shared_.NoteReplaced(who.id, clock_.Now())) return;
  Log(LogLevel::kWarning, "a runner's credentials are used in two places", "runner", who.id, "owner",
      who.owner, "here", here, "and", there, "help",
      absl::StrCat("attune fleet revoke ", who.id, ", and invite both anew"));
}

void RunnerHub::Receive(int64_t number, const proto::FromRunner& message) {
  if (message.has_reported()) return Report(number, message.reported());
  absl::StatusOr<RunnerOffer> offer = RunnerOffer();
  if (message.has_hello()) offer = CheckedHello(message.hello());
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  if (message.has_hello()) {
    const absl::Status joined = offer.ok() ? Join(number, connection, *std::move(offer)) : offer.status();
    if (!joined.ok()) Refuse(number, joined);
  } else if (message.has_lost()) {
    const auto runner = connection.runners.find(message.lost().job());
    if (runner != connection.runners.end()) Lose(runner->second, {CheckedReason(message.lost())});
  }
  is_woken_ = true;
  changed_.notify_all();
}

void RunnerHub::Report(int64_t number, const proto::RunnerReported& reported) {
  absl::StatusOr<RunnerStageEnded> report = CheckedReport(reported);
  std::unique_lock<std::mutex> lock(mutex_);
  const auto connection = connections_.find(number);
  if (connection == connections_.end()) return;
  const auto found = connection->second.runners.find(reported.job());
  if (!report.ok()) return Refuse(number, report.status());
  // It has been taken away meanwhile.
  if (found == connection->second.runners.end()) return;
  const int64_t number_of_runner = found->second;
  const Runner runner = runners_.at(number_of_runner);
  if (!runner.runs) return Refuse(number, InvalidInput("a report of a stage that was not started"));
  runners_.at(number_of_runner).runs = false;
  // Looking for many files takes a while.
  lock.unlock();
  const absl::Status kept = TakeMade(runner, reported, *report);
  lock.lock();
  if (!runners_.contains(number_of_runner)) {
    lock.unlock();
    if (late_) late_(runner.job, runner.supplies->files_owner);
    return;
  }
  if (kept.ok()) {
    events_.push_back({number_of_runner, RunnerReport(*std::move(report))});
  } else {
    Lose(number_of_runner, {WithoutControls(kept.message())});
  }
  is_woken_ = true;
  changed_.notify_all();
}

absl::Status RunnerHub::TakeMade(const Runner& runner, const proto::RunnerReported& reported,
                                 RunnerStageEnded& ended) const {
  if (!ended.status.ok()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckMade(ended));
  RETURN_IF_ERROR(CheckNeeds(runner, ended));
  const std::vector<JobFile> kept = FromWire(reported.files());
  std::vector<JobFile> files;
  std::ranges::copy_if(runner.supplies->files, std::back_inserter(files),
                       [](const JobFile& file) { return file.name.starts_with(kInputsFolder); });
  files.insert(files.end(), kept.begin(), kept.end());
  RETURN_IF_ERROR(CheckJobFiles(files));
  for (const JobFile& file : kept) {
    const auto blob = files_.Read(runner.supplies->files_owner, file.digest);
    if (!blob.ok() || blob->second != file.bytes)
      return InvalidInput(file.name, ": the runner has not sent it");
  }
  // Not earlier: the runner would not know the files again.
  if (!ended.next.has_value()) RETURN_IF_ERROR(TakeArtifact(*runner.supplies, ended.result, files));
  ended.files = std::move(files);
  return absl::OkStatus();
}

absl::Status RunnerHub::CheckNeeds(const Runner& runner, const RunnerStageEnded& ended) {
  if (!ended.next.has_value()) return absl::OkStatus();
  for (const ResourceNeed& need : ended.next->needs) {
    // A job that measures on a remote device gets the device that it was submitted for, whatever name its
    // stage uses.
    const bool is_its_own = need.key == kProcessorsKey || !runner.on.empty();
    if (need.exclusive && !is_its_own)
      return InvalidInput("the next stage wants \"", Printable(need.key),
                          "\" for itself, and the job measures on no device");
  }
  return absl::OkStatus();
}

absl::Status RunnerHub::TakeArtifact(const JobSupplies& supplies, const std::string& result,
                                     std::vector<JobFile>& files) const {
  RETURN_IF_ERROR(CheckBuiltArtifact(supplies.spec, files, result, supplies.files_owner, files_));
  const std::optional<std::string> name = ArtifactNameOf(supplies.spec);
  if (signer_ == nullptr || !name) return absl::OkStatus();
  return signer_->SignFile(supplies.spec.owner, *name, supplies.files_owner, files_, files);
}

void RunnerHub::Lose(int64_t runner, RunnerLost lost) {
  events_.push_back({runner, std::move(lost)});
  EndRunner(runner);
}

void RunnerHub::EndRunner(int64_t runner) {
  const auto found = runners_.find(runner);
  if (found == runners_.end()) return;
  proto::ToRunner message;
  message.mutable_end()->set_job(found->second.job);
  SendTo(found->second, message);
  if (!found->second.job.empty()) connections_.at(found->second.connection).runners.erase(found->second.job);
  runners_.erase(found);
}

void RunnerHub::Remove(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Erase(number);
}

void RunnerHub::Erase(int64_t number) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  Log(LogLevel::kInfo, "runner is gone", "runner", found->second.who.who.id);
  // The schedule takes their jobs away together with the host.
  std::erase_if(runners_, [&](const auto& entry) { return entry.second.connection == number; });
  connections_.erase(found);
  is_woken_ = have_machines_changed_ = true;
  changed_.notify_all();
}

void RunnerHub::Refuse(int64_t number, const absl::Status& why) {
  const Connection& connection = connections_.at(number);
  Log(LogLevel::kWarning, "runner is refused", "runner", connection.who.who.id, "owner",
      connection.who.who.owner, "reason", why.message());
  connection.link->Close(why);
  Erase(number);
}

int64_t RunnerHub::NumShared() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return shared_.NumShared(clock_.Now());
}

void RunnerHub::Close(const MemberRefusal& refusal) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [number, connection] : connections_)
    if (const absl::Status refused = refusal(connection.who); !refused.ok()) connection.link->Close(refused);
}

std::shared_ptr<const JobSupplies> RunnerHub::SuppliesOf(const std::string& machine,
                                                         const std::string& job) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [number, connection] : connections_) {
    const auto runner = connection.runners.find(job);
    if (connection.who.who.id == machine && runner != connection.runners.end())
      return runners_.at(runner->second).supplies;
  }
  return nullptr;
}

std::map<int64_t, RunnerHub::Runner>::const_iterator RunnerHub::Find(
    const std::shared_ptr<const JobSupplies>& supplies) const {
  return std::ranges::find_if(runners_, [&](const auto& entry) { return entry.second.supplies == supplies; });
}

bool RunnerHub::AreInUse(const std::shared_ptr<const JobSupplies>& supplies) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Find(supplies) != runners_.end();
}

void RunnerHub::Fail(const std::shared_ptr<const JobSupplies>& supplies, const absl::Status& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = Find(supplies);
  if (found == runners_.end()) return;
  const int64_t number = found->first;
  Log(LogLevel::kInfo, "a job ends because of its report", "job", found->second.job, "reason", why.message());
  if (found->second.runs) {
    RunnerStageEnded ended;
    ended.status = why;
    events_.push_back({number, RunnerReport(std::move(ended))});
    EndRunner(number);
  } else {
    Lose(number, {std::string(why.message())});  // it sends without a stage
  }
  is_woken_ = true;
  changed_.notify_all();
}

void RunnerHub::Wake() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_woken_ = true;
  changed_.notify_all();
}

std::optional<std::map<int64_t, RunnerMachine>> RunnerHub::TakeChangedMachines() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!std::exchange(have_machines_changed_, false)) return std::nullopt;
  std::map<int64_t, RunnerMachine> machines;
  for (const auto& [number, connection] : connections_)
    if (connection.is_there) machines[number] = connection.machine;
  return machines;
}

void RunnerHub::SetHost(int64_t number, int host) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = connections_.find(number);
  if (found != connections_.end()) found->second.host = host;
}

void RunnerHub::EndAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  while (!runners_.empty()) {
    EndRunner(runners_.begin()->first);
  }
  for (auto& [number, connection] : connections_) connection.host = -1;
  events_.clear();
  have_machines_changed_ = true;
}

absl::StatusOr<int64_t> RunnerHub::Start(int host) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [number, connection] : connections_) {
    if (connection.host != host) continue;
    runners_[++last_runner_] = {.connection = number};
    return last_runner_;
  }
  return absl::UnavailableError("its host is gone");
}

void RunnerHub::SendTo(const Runner& runner, const proto::ToRunner& message) {
  const auto connection = connections_.find(runner.connection);
  if (connection != connections_.end() && !runner.job.empty()) connection->second.link->Send(message);
}

void RunnerHub::Send(int64_t runner, const RunnerCommand& command) {
  std::optional<absl::StatusOr<JobSupplies>> supplies;
  const auto* assign = std::get_if<AssignJob>(&command);
  if (assign != nullptr) supplies = supply_(assign->spec.id);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = runners_.find(runner);
  if (found == runners_.end()) return;
  proto::ToRunner message;
  if (assign != nullptr) {
    if (!supplies->ok())
      return Lose(runner, {std::string(supplies->status().message()), /*may_be_jobs_fault=*/false});
    found->second.job = assign->spec.id;
    found->second.supplies = std::make_shared<const JobSupplies>(**supplies);
    found->second.on = assign->place.on;
    connections_.at(found->second.connection).runners[assign->spec.id] = runner;
    message.mutable_start()->set_job(assign->spec.id);
    *message.mutable_start()->mutable_files() = ToWire((*supplies)->files);
    message.mutable_start()->set_credentials((*supplies)->credentials);
    SendTo(found->second, message);
  }
  if (std::holds_alternative<RunStage>(command)) found->second.runs = true;
  message.mutable_command()->set_job(found->second.job);
  message.mutable_command()->set_command(Encode(command));
  SendTo(found->second, message);
}

std::vector<RunnerEvent> RunnerHub::Await(double seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                    [&] { return is_woken_ || !events_.empty(); });
  is_woken_ = false;
  return std::exchange(events_, {});
}

void RunnerHub::End(int64_t runner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  EndRunner(runner);
}

}  // namespace attune
