// The runner: a process that checks and times kernels of one task for the measurer. It never calls a kernel
// itself but forks a process for each, kernel_process.h.
#include <signal.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/process/message.h"
#include "base/process/worker_process.h"
#include "measure/measure_worker.h"
#include "measure/task_data.h"
#include "measure/task_kernel.h"
#include "measure/timing.h"
#include "tune/task/codec.h"

namespace attune {
namespace {

constexpr int kMoreExecutions = 2;  // that are checked after timing

class ProcessBatches final : public BatchRunner {
 public:
  explicit ProcessBatches(KernelProcess& process) : process_(process) {}
  std::optional<Failure> Run(int64_t executions, double* seconds) override {
    return process_.Run(executions, seconds);
  }
  std::optional<Failure> Move() override { return process_.Move(); }

 private:
  KernelProcess& process_;
};

class Runner {
 public:
  explicit Runner(const TaskData& data) : data_(data) {}

  Measurement Measure(MeasureRequest request) {
    TaskKernel candidate(std::move(request.kernel), data_, request.options);
    if (const auto failure = candidate.Prepare()) return Failed(*failure);
    if (auto measurement = Check(candidate, request)) return *std::move(measurement);
    Failure failure;
    const std::unique_ptr<KernelProcess> process = candidate.StartTimed(&failure);
    if (process == nullptr) return Failed(failure);
    // Both are as new: a process that has been there for a while was measured to be some percent slower,
    // since what memory the system gives changes. One that does not run is no competitor.
    std::optional<TaskKernel> incumbent;
    std::unique_ptr<KernelProcess> other;
    if (request.incumbent) {
      incumbent.emplace(*std::move(request.incumbent), data_, request.options);
      if (!incumbent->Prepare()) other = incumbent->StartTimed(&failure);
    }
    ProcessBatches batches(*process);
    std::optional<ProcessBatches> other_batches;
    if (other != nullptr) other_batches.emplace(*other);
    Measurement measurement;
    TimeInTurns(batches, other_batches ? &*other_batches : nullptr, request.incumbent_seconds,
                request.options, &measurement);
    if (measurement.outcome == TrialOutcome::kOk) CheckAgain(candidate, *process, &measurement);
    return measurement;
  }

 private:
  static Measurement Failed(const Failure& failure) {
    Measurement measurement;
    measurement.outcome = failure.outcome;
    measurement.reason = failure.reason;
    return measurement;
  }

  // What came of it where it is wrong, or so slow that making memory for its timing, which takes longer than
  // all that is timed there, is not worth it.
  static std::optional<Measurement> Check(TaskKernel& candidate, const MeasureRequest& request) {
    Failure failure;
    const std::unique_ptr<KernelProcess> process = candidate.StartChecked(&failure);
    if (process == nullptr) return Failed(failure);
    ProcessBatches batches(*process);
    auto measurement = AbandonEarly(batches, request.incumbent_seconds, request.options);
    if (measurement && measurement->outcome == TrialOutcome::kOk)
      CheckAgain(candidate, *process, &*measurement);
    return measurement;
  }

  // What was timed must have been the work. Before each execution, a line somewhere in each output was
  // poisoned, so that one that finds its outputs made already and leaves is found out, if not by the last
  // batch, by a few more.
  static void CheckAgain(const TaskKernel& kernel, KernelProcess& process, Measurement* measurement) {
    for (int round = 0;; ++round) {
      auto failure = kernel.CheckOutputs(process);
      if (!failure && round == kMoreExecutions) return;
      double seconds = 0;
      if (!failure) failure = process.Run(1, &seconds);
      if (!failure) continue;
      *measurement = Failed({failure->outcome, absl::StrCat("after it was timed: ", failure->reason)});
      return;
    }
  }

  const TaskData& data_;
};

}  // namespace

int RunRunner() {
  signal(SIGPIPE, SIG_IGN);  // a kernel's process that is gone is an error of write()
  const absl::StatusOr<TaskData> data = TaskData::Map(kWorkerFile);
  if (!data.ok()) return 2;
  data->HideExpected();
  Runner runner(*data);
  for (;;) {
    const absl::StatusOr<std::string> message = ReceiveMessage(kWorkerSocket, kNoDeadline);
    if (!message.ok()) return 0;
    absl::StatusOr<MeasureRequest> request = DecodeMeasureRequest(*message);
    Measurement measurement;
    if (request.ok()) {
      measurement = runner.Measure(*std::move(request));
    } else {
      measurement.reason = std::string(request.status().message());
    }
    if (!SendMessage(kWorkerSocket, EncodeMeasurement(measurement), kNoDeadline).ok()) return 0;
  }
}

}  // namespace attune
