#include "service/queue/runner_hub.h"

#include <algorithm>
#include <variant>

#include "base/log.h"
#include "base/printable.h"
#include "base/status.h"
#include "service/wire/job_files.h"
#include "work/driver/runner_messages.h"

namespace attune {

namespace proto = jobs_service_proto;

int64_t RunnerHub::Add(const CertificateFacts& who, std::shared_ptr<RunnerLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return machines_.Add(who, std::move(link));
}

absl::Status RunnerHub::Join(int64_t number, RunnerOffer offer) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> replaced, machines_.Join(number, std::move(offer)));
  if (replaced) ForgetRunnersOn(*replaced);
  return absl::OkStatus();
}

void RunnerHub::Receive(int64_t number, const proto::FromRunner& message) {
  if (message.has_reported()) return Report(number, message.reported());
  absl::StatusOr<RunnerOffer> offer = RunnerOffer();
  if (message.has_hello()) offer = CheckedHello(message.hello());
  const std::lock_guard<std::mutex> lock(mutex_);
  const MachineConnection* connection = machines_.Find(number);
  if (connection == nullptr) return;
  if (message.has_hello()) {
    const absl::Status joined = offer.ok() ? Join(number, *std::move(offer)) : offer.status();
    if (!joined.ok()) Refuse(number, joined);
  } else if (message.has_lost()) {
    const auto runner = connection->runners.find(message.lost().job());
    if (runner != connection->runners.end()) Lose(runner->second, {CheckedReason(message.lost())});
  }
  events_.Wake();
}

void RunnerHub::Report(int64_t number, const proto::RunnerReported& reported) {
  absl::StatusOr<RunnerStageEnded> report = CheckedReport(reported);
  std::unique_lock<std::mutex> lock(mutex_);
  const MachineConnection* connection = machines_.Find(number);
  if (connection == nullptr) return;
  const auto found = connection->runners.find(reported.job());
  if (!report.ok()) return Refuse(number, report.status());
  // It has been taken away meanwhile.
  if (found == connection->runners.end()) return;
  const int64_t number_of_runner = found->second;
  const Runner runner = runners_.at(number_of_runner);
  if (!runner.runs) return Refuse(number, InvalidInput("a report of a stage that was not started"));
  runners_.at(number_of_runner).runs = false;
  // Looking for many files takes a while.
  lock.unlock();
  const absl::Status kept = check_.Complete(*runner.supplies, runner.on, FromWire(reported.files()), *report);
  lock.lock();
  if (!runners_.contains(number_of_runner)) {
    lock.unlock();
    if (late_) late_(runner.job, runner.supplies->files_owner);
    return;
  }
  if (kept.ok()) {
    events_.Push({number_of_runner, RunnerReport(*std::move(report))});
  } else {
    Lose(number_of_runner, {WithoutControls(kept.message())});
  }
  events_.Wake();
}

void RunnerHub::Lose(int64_t runner, RunnerLost lost) {
  events_.Push({runner, std::move(lost)});
  EndRunner(runner);
}

void RunnerHub::EndRunner(int64_t runner) {
  const auto found = runners_.find(runner);
  if (found == runners_.end()) return;
  proto::ToRunner message;
  message.mutable_end()->set_job(found->second.job);
  SendTo(found->second, message);
  if (!found->second.job.empty()) machines_.Find(found->second.connection)->runners.erase(found->second.job);
  runners_.erase(found);
}

void RunnerHub::Remove(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Erase(number);
}

void RunnerHub::Erase(int64_t number) {
  machines_.Remove(number);
  ForgetRunnersOn(number);
  events_.Wake();
}

void RunnerHub::ForgetRunnersOn(int64_t connection) {
  std::erase_if(runners_, [&](const auto& entry) { return entry.second.connection == connection; });
}

void RunnerHub::Refuse(int64_t number, const absl::Status& why) {
  const MachineConnection& connection = *machines_.Find(number);
  Log(LogLevel::kWarning, "runner is refused", "runner", connection.who.who.id, "owner",
      connection.who.who.owner, "reason", why.message());
  connection.link->Close(why);
  Erase(number);
}

int64_t RunnerHub::NumShared() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return machines_.NumShared();
}

void RunnerHub::Close(const MemberRefusal& refusal) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [number, connection] : machines_.all())
    if (const absl::Status refused = refusal(connection.who); !refused.ok()) connection.link->Close(refused);
}

std::shared_ptr<const JobSupplies> RunnerHub::SuppliesOf(const std::string& machine,
                                                         const std::string& job) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [number, connection] : machines_.all()) {
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
    events_.Push({number, RunnerReport(std::move(ended))});
    EndRunner(number);
  } else {
    Lose(number, {std::string(why.message())});  // it sends without a stage
  }
  events_.Wake();
}

std::optional<std::map<int64_t, RunnerMachine>> RunnerHub::TakeChangedMachines() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return machines_.TakeChanged();
}

void RunnerHub::SetHost(int64_t number, int host) {
  const std::lock_guard<std::mutex> lock(mutex_);
  machines_.SetHost(number, host);
}

void RunnerHub::EndAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  while (!runners_.empty()) EndRunner(runners_.begin()->first);
  machines_.ForgetHosts();
  events_.Clear();
}

absl::StatusOr<int64_t> RunnerHub::Start(int host) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::optional<int64_t> connection = machines_.OnHost(host);
  if (!connection) return absl::UnavailableError("its host is gone");
  runners_[++last_runner_] = {.connection = *connection};
  return last_runner_;
}

void RunnerHub::SendTo(const Runner& runner, const proto::ToRunner& message) {
  const MachineConnection* connection = machines_.Find(runner.connection);
  if (connection != nullptr && !runner.job.empty()) connection->link->Send(message);
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
    machines_.Find(found->second.connection)->runners[assign->spec.id] = runner;
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

void RunnerHub::End(int64_t runner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  EndRunner(runner);
}

}  // namespace attune
