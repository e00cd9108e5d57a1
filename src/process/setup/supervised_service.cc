#include "process/setup/supervised_service.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "base/log.h"
#include "base/process/pipe.h"
#include "base/state_file.h"
#include "base/status.h"
#include "device/pin.h"

namespace attune {
namespace {

constexpr double kLongSeconds = 60;  // that did not fail at once

}  // namespace

void TurnLog(const std::string& path, uintmax_t most_bytes) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const uintmax_t bytes = fs::file_size(path, error); error || bytes <= most_bytes) return;
  const std::string old = path + ".old", copy = old + ".new";
  fs::copy_file(path, copy, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(copy, old, error);
  if (!error) fs::resize_file(path, 0, error);
  if (error) fs::remove(copy, error);
}

void SupervisedService::Tick() {
  TurnLog(program_.log);
  if (process_ != nullptr) {
    if (const std::optional<int> status = process_->AwaitEnd(0)) Ended(DescribeWait(*status));
    return;
  }
  if (clock_.Now() < next_start_) return;
  if (const absl::Status status = Start(); !status.ok()) Ended(std::string(status.message()));
}

absl::Status SupervisedService::Start() {
  if (program_.prepare) RETURN_IF_ERROR(program_.prepare());
  RETURN_IF_ERROR(CheckStateFile(program_.log));
  std::optional<PinnedTo> pinned;  // the program starts where this thread is
  if (!program_.processors.empty()) pinned.emplace(program_.processors);
  ASSIGN_OR_RETURN(
      process_, CompanionProcess::Start(program_.program, program_.arguments, /*folder=*/"", program_.log));
  started_ = clock_.Now();
  state_.pid = process_->pid();
  state_.since_ms = clock_.WallMillis();
  Log(LogLevel::kInfo, "service started", "service", program_.name, "pid", state_.pid);
  return absl::OkStatus();
}

void SupervisedService::Ended(const std::string& how) {
  if (process_ != nullptr && clock_.Now() - started_ >= kLongSeconds) backoff_.Reset();
  process_.reset();
  next_start_ = clock_.Now() + backoff_.Next();
  state_.pid = 0;
  state_.end = how;
  state_.since_ms = clock_.WallMillis();
  ++state_.restarts;
  Log(LogLevel::kWarning, "service ended", "service", program_.name, "how", how, "again_in_s",
      next_start_ - clock_.Now());
}

void SupervisedService::Stop(double grace_seconds) {
  if (process_ != nullptr) process_->Stop(grace_seconds);
  process_.reset();
  state_.pid = 0;
}

}  // namespace attune
