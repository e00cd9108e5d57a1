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
    KernelProcess* incumbent =
        request.incumbent ? StartIncumbent(*request.incumbent, request.options) : nullptr;
    ProcessBatches batches(*candidate.process);
    std::optional<ProcessBatches> other;
    if (incumbent != nullptr) other.emplace(*incumbent);
    TimeInTurns(batches, other ? &*other : nullptr, request.incumbent_seconds, request.options, &measurement);
    if (measurement.outcome != TrialOutcome::kOk) return measurement;
    if (const auto failure = CheckAgain(candidate)) {
      measurement = {};
      Fail({failure->outcome, absl::StrCat("after it was timed: ", failure->reason)}, &measurement);
      return measurement;
    }
    if (incumbent != nullptr && measurement.incumbent_seconds == 0) incumbent_ = {};  // it failed
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

  // The incumbent's process stays from call to call, as long as it is the same kernel in the same setting.
  // Null where it does not run: then it is no competitor.
  KernelProcess* StartIncumbent(const BuiltKernel& kernel, const MeasureOptions& options) {
    const bool is_there = incumbent_.process != nullptr &&
                          incumbent_.kernel->kernel().code_digest == kernel.code_digest &&
                          incumbent_.kernel->kernel().code.bytes == kernel.code.bytes &&
                          incumbent_.kernel->options().threads == options.threads &&
                          incumbent_.kernel->options().cache == options.cache &&
                          incumbent_.kernel->options().cold_bytes == options.cold_bytes;
    if (!is_there) {
      incumbent_ = {};
      if (Start(kernel, options, false, &incumbent_)) incumbent_ = {};
    }
    return incumbent_.process.get();
  }

  const TaskData& data_;
  Started incumbent_;
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
