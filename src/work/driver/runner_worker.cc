#include "work/driver/runner_worker.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/process/message.h"
#include "base/process/worker_process.h"
#include "base/status.h"
#include "base/threads.h"
#include "device/device.h"
#include "device/lease.h"
#include "device/pin_tree.h"
#include "work/driver/job_sandbox.h"
#include "work/driver/runner_messages.h"

namespace attune {
namespace {

// The commands that have come and are not carried out yet. Thread safe.
class Commands {
 public:
  void Add(RunnerCommand command) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      commands_.push_back(std::move(command));
    }
    added_.notify_one();
  }
  RunnerCommand Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    added_.wait(lock, [&] { return !commands_.empty(); });
    RunnerCommand command = std::move(commands_.front());
    commands_.pop_front();
    return command;
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<RunnerCommand> commands_;
};

class Runner {
 public:
  Runner(DeviceInfo device, JobKinds kinds, const ServiceElsewhere& elsewhere, const PortElsewhere& port)
      : device_(std::move(device)), kinds_(kinds), elsewhere_(elsewhere), port_(port) {}

  // Serves commands until the socket closes, when the process ends.
  int Serve() {
    std::vector<std::string> kinds;
    for (const JobKind& kind : kinds_.rows()) kinds.emplace_back(kind.name);
    if (!Report(RunnerRegistered{std::move(kinds)})) return 0;
    // The job comes first, so that its fences hold for all threads that it could take over.
    const absl::StatusOr<std::string> message = ReceiveMessage(kWorkerSocket, kNoDeadline);
    if (!message.ok()) return 0;
    absl::StatusOr<RunnerCommand> first = DecodeRunnerCommand(*message);
    auto* assign = first.ok() ? std::get_if<AssignJob>(&*first) : nullptr;
    if (assign == nullptr) return 1;
    assigned_ = std::move(*assign);
    confined_ = Confine();
    std::thread reader;
    if (!StartThread(reader, [this] { Read(); })) return 1;
    reader.detach();
    for (;;) {
      RunnerCommand command = commands_.Take();
      if (const auto* run = std::get_if<RunStage>(&command); run != nullptr && !Report(Run(*run))) return 0;
    }
  }

 private:
  static bool Report(const RunnerReport& report) {
    return SendMessage(kWorkerSocket, Encode(report), kNoDeadline).ok();
  }

  // The loop of the thread that reads commands, also while a stage runs.
  void Read() {
    for (;;) {
      const absl::StatusOr<std::string> message = ReceiveMessage(kWorkerSocket, kNoDeadline);
      if (!message.ok()) _exit(0);  // the parent is gone, or wants this process no more
      absl::StatusOr<RunnerCommand> command = DecodeRunnerCommand(*message);
      // The scheduler sees by the end of this process that it has sent nonsense.
      if (!command.ok()) _exit(1);
      if (!std::holds_alternative<CancelStage>(*command)) {
        commands_.Add(*std::move(command));
        continue;
      }
      const std::lock_guard<std::mutex> lock(mutex_);
      is_cancelled_ = true;
      if (job_ != nullptr) job_->Cancel();
    }
  }

  absl::Status Confine() const {
    const JobPlace& place = assigned_.place;
    if (place.confinement == Confinement::kNone) return absl::OkStatus();
    DeviceLeases::Open(device_).status().IgnoreError();  // makes the folder of leases
    return ConfineJob(place, port_ ? port_(place.credentials) : 0);
  }

  bool is_cancelled() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return is_cancelled_;
  }

  RunnerReport Run(const RunStage& run) {
    RunnerStageEnded ended;
    const absl::StatusOr<std::optional<DeviceLease>> lease = Acquire(run);
    ended.status = lease.status();
    const Stopwatch watch;
    if (lease.ok()) {
      // Measuring processes pin themselves. Meanwhile, the rest of this process stays away from the device.
      if (run.lease != StageLease::kExclusive && !run.processors.empty()) PinProcessTree(run.processors);
      ended.status = job_ == nullptr ? Open() : job_->Run({run.processors});
    }
    ended.seconds = watch.Seconds();
    if (!ended.status.ok() || job_ == nullptr) return ended;
    ended.next = job_->Next();
    ended.remaining = std::max(0.0, job_->RemainingSeconds());
    ended.progress = job_->Progress();
    ended.figures = job_->Figures();
    if (!ended.next.has_value()) ended.result = job_->Result();
    return ended;
  }

  absl::StatusOr<std::optional<DeviceLease>> Acquire(const RunStage& run) const {
    if (run.lease == StageLease::kNone || run.processors.empty()) return std::nullopt;
    DeviceInfo granted = device_;
    granted.usable = run.processors;
    std::ranges::sort(granted.usable);
    ASSIGN_OR_RETURN(const DeviceLeases leases, DeviceLeases::Open(std::move(granted)));
    const LeaseWait wait = {.is_cancelled = [this] { return is_cancelled(); }};
    const int count = static_cast<int>(run.processors.size());
    absl::StatusOr<DeviceLease> lease = run.lease == StageLease::kExclusive
                                            ? leases.AcquireExclusive(count, run.isolation, wait)
                                            : leases.AcquireShared(count, wait);
    RETURN_IF_ERROR(lease.status());
    return std::optional<DeviceLease>(*std::move(lease));
  }

  absl::Status Open() {
    RETURN_IF_ERROR(confined_);
    const JobKind* kind = kinds_.Find(assigned_.spec.kind);
    if (kind == nullptr)
      return NotSupported("this runner knows no jobs of kind \"", assigned_.spec.kind, "\"");
    JobPlace& place = assigned_.place;
    if (!place.on.empty()) {
      if (!elsewhere_) return NotSupported("this runner measures on no device elsewhere");
      ASSIGN_OR_RETURN(place.service, elsewhere_(place.on, place.credentials));
    }
    ASSIGN_OR_RETURN(std::unique_ptr<Job> job, kind->open(assigned_.spec, place));
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = std::move(job);
    if (is_cancelled_) job_->Cancel();
    return absl::OkStatus();
  }

  const DeviceInfo device_;
  const JobKinds kinds_;
  const ServiceElsewhere& elsewhere_;
  const PortElsewhere& port_;
  Commands commands_;
  AssignJob assigned_;
  absl::Status confined_;

  mutable std::mutex mutex_;  // for is_cancelled_, and for job_ outside of the main thread
  bool is_cancelled_ = false;
  std::unique_ptr<Job> job_;
};

int RunRunner(JobKinds kinds, const ServiceElsewhere& elsewhere, const PortElsewhere& port) {
  absl::StatusOr<DeviceInfo> device = HostDevice();
  if (!device.ok()) {
    // The scheduler reports what is printed here as the reason.
    const std::string text = device.status().ToString() + "\n";
    return write(STDERR_FILENO, text.data(), text.size()) < 0 ? 2 : 1;
  }
  return Runner(*std::move(device), kinds, elsewhere, port).Serve();
}

}  // namespace

WorkerKind RunnerWorker(JobKinds kinds, const ServiceElsewhere& elsewhere, const PortElsewhere& port) {
  return {.name = kRunnerKind,
          .run = [kinds, elsewhere, port] { return RunRunner(kinds, elsewhere, port); },
          .is_confined = false,
          .is_watched = false};
}

}  // namespace attune
