#include "measure/local_measurer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/process/message.h"
#include "base/status.h"
#include "measure/measure_worker.h"
#include "measure/task_data.h"
#include "measure/timing.h"
#include "tune/task/codec.h"

namespace attune {
namespace {

constexpr int kAttempts = 2;       // of a kernel whose runner is killed from outside
constexpr double kEndSeconds = 2;  // for a runner whose socket has closed to be gone

// How long a runner may take that does all it may: preparations, checks and batches have limits of their own,
// and come one after the other.
double SecondsLimit(const BuiltKernel& kernel, const Incumbent* incumbent, const MeasureOptions& options) {
  const size_t others =
      incumbent == nullptr || incumbent->kernel == nullptr ? 0 : incumbent->kernel->preparations.size() + 4;
  const auto steps = static_cast<double>(kernel.preparations.size() + others + 8);
  return 120 + steps * options.execution_seconds_limit + (kTimingPatience + 2) * options.seconds_limit;
}

// Why the task cannot be measured within the limit; empty where it can.
std::string WhyTooLarge(const TuningTask& task, const MeasureOptions& options) {
  // The file holds outputs with up to two bounds, and processes have a copy of all.
  const int64_t bytes = 4 * TaskBytes(task);
  if (bytes <= options.memory_bytes_limit) return "";
  return absl::StrCat("the task's inputs and outputs take ", bytes >> 20, " MiB to measure, the limit is ",
                      options.memory_bytes_limit >> 20, " MiB");
}

}  // namespace

LocalMeasurer::LocalMeasurer(LocalMeasurerOptions options) : options_(std::move(options)) {}

LocalMeasurer::~LocalMeasurer() = default;

// Has a runner for the task.
absl::Status LocalMeasurer::Begin(const TuningTask& task) {
  if (task_ != task.digest || task_.empty()) {
    runner_ = nullptr;
    data_.Close();
    absl::StatusOr<FileDescriptor> data = MakeTaskFile(task);
    data_status_ = data.status();
    // There may be memory another time.
    task_ = absl::IsResourceExhausted(data_status_) ? "" : task.digest;
    if (data.ok()) data_ = *std::move(data);
  }
  RETURN_IF_ERROR(data_status_);
  if (runner_ != nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string program, FindWorkerProgram(options_.worker_program));
  ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> runner,
                   WorkerProcess::Start(program, kRunnerKind, {}, data_.get()));
  RETURN_IF_ERROR(runner->AwaitReady(After(options_.start_seconds_limit)));
  runner_ = std::move(runner);
  return absl::OkStatus();
}

Measurement LocalMeasurer::Ask(const std::string& request, double seconds_limit, bool* killed) {
  Measurement measurement;
  const Deadline deadline = After(seconds_limit);
  absl::Status status = runner_->Send(request, deadline);
  if (status.ok()) {
    const absl::StatusOr<std::string> answer = ReceiveMessage(runner_->socket(), deadline);
    status = answer.status();
    if (answer.ok()) {
      absl::StatusOr<Measurement> decoded = DecodeMeasurement(*answer);
      if (decoded.ok()) return *std::move(decoded);
      status = decoded.status();
    }
  }
  const bool is_gone = absl::IsUnavailable(status);
  const ProcessEnd end = runner_->Stop(is_gone ? kEndSeconds : 0);
  runner_ = nullptr;
  *killed = is_gone && end.killed;
  measurement.outcome = absl::IsDeadlineExceeded(status) ? TrialOutcome::kTimedOut
                        : is_gone                        ? OutcomeOf(end)
                                                         : TrialOutcome::kRetry;
  measurement.reason = absl::StrCat("the runner failed: ", status.message(), "; ", end.reason);
  return measurement;
}

Measurement LocalMeasurer::Measure(const TuningTask& task, const BuiltKernel& kernel,
                                   const MeasureOptions& options, const Incumbent* incumbent) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_lock<MachineUse> measuring;
  if (options_.use != nullptr) measuring = std::unique_lock<MachineUse>(*options_.use);
  const auto start = std::chrono::steady_clock::now();
  Measurement measurement;
  if (std::string reason = WhyTooLarge(task, options); !reason.empty()) {
    measurement.outcome = TrialOutcome::kOutOfMemory;
    measurement.reason = std::move(reason);
    return measurement;
  }
  bool killed = true;
  for (int attempt = 0; attempt < kAttempts && killed; ++attempt) {
    killed = false;
    if (const absl::Status status = Begin(task); !status.ok()) {
      measurement = {};
      measurement.reason = std::string(status.message());
      break;
    }
    measurement = Ask(EncodeMeasureRequest(kernel, options, incumbent),
                      SecondsLimit(kernel, incumbent, options), &killed);
  }
  measurement.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return measurement;
}

pid_t LocalMeasurer::RunnerPid() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return runner_ == nullptr ? -1 : runner_->pid();
}

}  // namespace attune
