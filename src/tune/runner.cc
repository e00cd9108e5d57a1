// The runner: a process that checks and times kernels of one task for the measurer. It never calls a kernel
// itself but forks a process for each, kernel_process.h.
#include <signal.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tune/codec.h"
#include "tune/message.h"
#include "tune/task_data.h"
#include "tune/task_kernel.h"
#include "tune/timing.h"
#include "tune/worker.h"
#include "tune/worker_process.h"

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

// A kernel that is ready to be timed.
struct Started {
  std::unique_ptr<TaskKernel> kernel;
  std::unique_ptr<KernelProcess> process;
};

class Runner {
 public:
  explicit Runner(const TaskData& data) : data_(data) {}

  Measurement Measure(MeasureRequest request) {
    Measurement measurement;
    Started candidate;
    if (const auto failure = Start(std::move(request.kernel), request.options, true, &candidate)) {
      Fail(*failure, &measurement);
      return measurement;
    }
    // Both are as new: a process that has been there for a while was measured to be some percent slower,
    // since what memory the system gives changes. One that does not run is no competitor.
    Started incumbent;
    const bool competes =
        request.incumbent && !Start(*std::move(request.incumbent), request.options, false, &incumbent);
    ProcessBatches batches(*candidate.process);
    std::optional<ProcessBatches> other;
    if (competes) other.emplace(*incumbent.process);
    TimeInTurns(batches, other ? &*other : nullptr, request.incumbent_seconds, request.options, &measurement);
    if (measurement.outcome != TrialOutcome::kOk) return measurement;
    if (const auto failure = CheckAgain(candidate)) {
      measurement = {};
      Fail({failure->outcome, absl::StrCat("after it was timed: ", failure->reason)}, &measurement);
      return measurement;
    }
    return measurement;
  }

 private:
  static void Fail(const Failure& failure, Measurement* measurement) {
    measurement->outcome = failure.outcome;
    measurement->reason = failure.reason;
  }

  std::optional<Failure> Start(BuiltKernel kernel, const MeasureOptions& options, bool check,
                               Started* started) {
    started->kernel = std::make_unique<TaskKernel>(std::move(kernel), data_, options);
    if (auto failure = started->kernel->Prepare()) return failure;
    if (check) {
      if (auto failure = started->kernel->Check()) return failure;
    }
    Failure failure;
    started->process = started->kernel->StartTimed(&failure);
    if (started->process == nullptr) return failure;
    return std::nullopt;
  }

  // What was timed must have been the work. Before each execution, a line somewhere in each output was
  // poisoned, so that one that finds its outputs made already and leaves is found out, if not by the last
  // batch, by a few more.
  static std::optional<Failure> CheckAgain(const Started& started) {
    for (int round = 0;; ++round) {
      if (auto failure = started.kernel->CheckOutputs(*started.process)) return failure;
      if (round == kMoreExecutions) return std::nullopt;
      double seconds = 0;
      if (auto failure = started.process->Run(1, &seconds)) return failure;
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
