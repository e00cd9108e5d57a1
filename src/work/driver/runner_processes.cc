#include "work/driver/runner_processes.h"

#include <poll.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "work/driver/runner_worker.h"

namespace attune {
namespace {

// A runner reads its commands at once, and its messages are short.
constexpr double kMessageSeconds = 10;
constexpr size_t kMaxReportBytes = size_t{16} << 20;
constexpr double kStartSeconds = 30;

}  // namespace

absl::StatusOr<int64_t> RunnerProcesses::Start(int /*host*/) {
  ASSIGN_OR_RETURN(const std::string program, FindWorkerProgram(program_));
  ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> process,
                   WorkerProcess::Start(program, kRunnerKind, {.is_confined = false}));
  RETURN_IF_ERROR(process->AwaitReady(After(kStartSeconds)));
  processes_[++num_started_] = {.process = std::move(process)};
  return num_started_;
}

void RunnerProcesses::Send(int64_t runner, const RunnerCommand& command) {
  const auto process = processes_.find(runner);
  if (process == processes_.end()) return;
  if (std::holds_alternative<RunStage>(command)) process->second.runs = true;
  const absl::Status sent = process->second.process->Send(Encode(command), After(kMessageSeconds));
  if (!sent.ok()) failed_.push_back({runner, Remove(runner, sent.message())});
}

std::vector<RunnerEvent> RunnerProcesses::Await(double seconds) {
  if (!failed_.empty()) return std::exchange(failed_, {});
  std::vector<pollfd> sockets;
  std::vector<int64_t> runners;
  for (const auto& [runner, process] : processes_) {
    sockets.push_back({.fd = process.process->socket(), .events = POLLIN, .revents = 0});
    runners.push_back(runner);
  }
  sockets.push_back({.fd = wake_, .events = POLLIN, .revents = 0});  // one that is negative is never ready
  // An interrupted wait is a short one.
  const int ready = poll(sockets.data(), sockets.size(), PollTimeout(After(seconds)));
  std::vector<RunnerEvent> events;
  for (size_t i = 0; ready > 0 && i < runners.size(); ++i)
    if (sockets[i].revents != 0) events.push_back(Receive(runners[i]));
  return events;
}

RunnerEvent RunnerProcesses::Receive(int64_t runner) {
  Process& process = processes_.at(runner);
  const absl::StatusOr<std::string> message =
      ReceiveMessage(process.process->socket(), After(kMessageSeconds), kMaxReportBytes);
  if (!message.ok()) return {runner, Remove(runner, "")};
  absl::StatusOr<RunnerReport> report = DecodeRunnerReport(*message);
  if (!report.ok()) return {runner, Remove(runner, report.status().message())};
  const bool is_registration = std::holds_alternative<RunnerRegistered>(*report);
  const bool was_asked =
      is_registration ? !std::exchange(process.is_registered, true) : std::exchange(process.runs, false);
  if (!was_asked) return {runner, Remove(runner, "it sends a report that was not asked for")};
  return {runner, *std::move(report)};
}

RunnerLost RunnerProcesses::Remove(int64_t runner, std::string_view why) {
  constexpr double kGraceSeconds = 1;
  const ProcessEnd end = processes_.at(runner).process->Stop(kGraceSeconds);
  processes_.erase(runner);
  return {absl::StrCat(why, why.empty() ? "" : "; ", end.reason)};
}

std::vector<pid_t> RunnerProcesses::Pids() const {
  std::vector<pid_t> pids;
  for (const auto& [runner, process] : processes_) pids.push_back(process.process->pid());
  return pids;
}

}  // namespace attune
