#include "service/server/runner_hub.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/status.h"
#include "device/codec.h"
#include "jobs/runner_messages.h"
#include "service/job_files.h"
#include "service/wire/version.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr int kMostNames = 4096;

// A machine's host, whose processors all compute: nothing is measured there.
absl::StatusOr<LocalHost> HostOf(const FleetIdentity& who, const proto::RunnerHello& hello) {
  LocalHost host;
  ASSIGN_OR_RETURN(host.device, DecodeDevice(hello.device()));
  if (host.device.usable.empty() || hello.memory_bytes() < 0)
    return InvalidInput("a runner without processors or memory");
  if (hello.programs_size() > kMostNames) return InvalidInput("a runner with too many programs");
  host.numbers = host.building = host.device.usable;
  host.resources.processors = static_cast<int>(host.numbers.size());
  host.resources.memory_bytes = hello.memory_bytes();
  host.resources.slots[OwnerSlot(who.owner)] = kAnyAmount;
  for (const std::string& program : hello.programs()) host.resources.slots[ProgramSlot(program)] = kAnyAmount;
  return host;
}

}  // namespace

std::string OwnerSlot(const std::string& owner) { return absl::StrCat("owner/", owner); }
std::string ProgramSlot(const std::string& program) { return absl::StrCat("program/", program); }

int64_t RunnerHub::Add(const CertificateFacts& who, std::shared_ptr<RunnerLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  connections_[++last_connection_] = {.who = who, .link = std::move(link)};
  return last_connection_;
}

absl::Status RunnerHub::Join(int64_t number, Connection& connection, const proto::RunnerHello& hello) {
  if (connection.is_there) return InvalidInput("a runner says twice what it is");
  if (hello.version() != kJobsVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("this runner speaks version ", hello.version(), " and the server version ", kJobsVersion,
                     "; update the older of the two (the runner's program is ", hello.program(), ")"));
  }
  ASSIGN_OR_RETURN(connection.machine.host, HostOf(connection.who.who, hello));
  connection.machine.connection = number;
  connection.machine.id = connection.who.who.id;
  connection.is_there = have_machines_changed_ = true;
  proto::ToRunner welcome;
  welcome.mutable_welcome();
  connection.link->Send(welcome);
  Log(LogLevel::kInfo, "runner is here", "runner", connection.who.who.id, "owner", connection.who.who.owner,
      "processors", connection.machine.host.resources.processors);
  return absl::OkStatus();
}

void RunnerHub::Receive(int64_t number, const proto::FromRunner& message) {
  if (message.has_reported()) return Report(number, message.reported());
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  if (message.has_hello()) {
    const absl::Status joined = Join(number, connection, message.hello());
    if (!joined.ok()) connection.link->Close(joined);
  } else if (message.has_lost()) {
    const auto runner = connection.runners.find(message.lost().job());
    if (runner != connection.runners.end()) Lose(runner->second, {WithoutControls(message.lost().reason())});
  }
  is_woken_ = true;
  changed_.notify_all();
}

void RunnerHub::Report(int64_t number, const proto::RunnerReported& reported) {
  const auto find = [&]() -> std::optional<std::pair<int64_t, Runner>> {
    const auto connection = connections_.find(number);
    if (connection == connections_.end()) return std::nullopt;
    const auto runner = connection->second.runners.find(reported.job());
    if (runner == connection->second.runners.end()) return std::nullopt;  // it has been taken away meanwhile
    return *runners_.find(runner->second);
  };
  std::unique_lock<std::mutex> lock(mutex_);
  const auto runner = find();
  if (!runner) return;
  const std::string tenant = connections_.at(number).who.who.owner;
  // Looking for many files takes a while.
  lock.unlock();
  const absl::StatusOr<RunnerReport> report = Checked(tenant, runner->second, reported);
  lock.lock();
  const auto still = find();
  if (!still || still->first != runner->first) return;
  if (report.ok()) {
    events_.push_back({runner->first, *report});
  } else {
    Lose(runner->first, {WithoutControls(report.status().message())});
  }
  is_woken_ = true;
  changed_.notify_all();
}

absl::StatusOr<RunnerReport> RunnerHub::Checked(const std::string& tenant, const Runner& runner,
                                                const proto::RunnerReported& reported) const {
  ASSIGN_OR_RETURN(RunnerReport report, DecodeRunnerReport(reported.report()));
  auto* ended = std::get_if<RunnerStageEnded>(&report);
  if (ended == nullptr || !ended->status.ok()) return report;
  // Clients are sent these as texts.
  ended->result = WithoutControls(ended->result, "\n\t");
  if (ended->next.has_value()) ended->next->name = WithoutControls(ended->next->name);
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
  if (signer_ != nullptr && !ended->next.has_value())
    RETURN_IF_ERROR(signer_->SignFiles(tenant, runner.supplies->files_owner, files_, files));
  ended->files = std::move(files);
  return report;
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
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  Log(LogLevel::kInfo, "runner is gone", "runner", found->second.who.who.id);
  // The schedule takes their jobs away together with the host.
  std::erase_if(runners_, [&](const auto& entry) { return entry.second.connection == number; });
  connections_.erase(found);
  is_woken_ = have_machines_changed_ = true;
  changed_.notify_all();
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
    connections_.at(found->second.connection).runners[assign->spec.id] = runner;
    message.mutable_start()->set_job(assign->spec.id);
    *message.mutable_start()->mutable_files() = ToWire((*supplies)->files);
    message.mutable_start()->set_credentials((*supplies)->credentials);
    SendTo(found->second, message);
  }
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
