#include "measure/measure_worker.h"

#include <signal.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process/message.h"
#include "base/process/namespaces.h"
#include "base/process/sandbox.h"
#include "base/process/worker_process.h"
#include "base/status.h"
#include "device/host.h"
#include "measure/blob.h"
#include "measure/codec.h"
#include "measure/network_program.h"
#include "measure/task_kernel.h"
#include "measure/timing.h"

namespace attune {
namespace {

constexpr int kMoreExecutions = 2;      // checked after timing
constexpr int kLeastProfileTurns = 16;  // even if they take longer than the limit
constexpr int kLeastRuns = 3;           // likewise
constexpr int kOverheadTurns = 16;
constexpr double kFileSeconds = 30;  // for an announced file to arrive

class ProcessBatches final : public BatchRunner {
 public:
  explicit ProcessBatches(MeasuredProcess& process) : process_(process) {}
  std::optional<Failure> Run(int64_t executions, double* seconds) override {
    return process_.Run(executions, seconds);
  }
  std::optional<Failure> Move() override { return process_.Move(); }

 private:
  MeasuredProcess& process_;
};

Measurement Failed(const Failure& failure) { return FailedMeasurement(failure.outcome, failure.reason); }

// Times a process, interleaved with another one if there is one.
Measurement Interleave(MeasuredProcess& subject, MeasuredProcess* baseline, const MeasureItem& item) {
  ProcessBatches batches(subject);
  std::optional<ProcessBatches> others;
  if (baseline != nullptr) others.emplace(*baseline);
  Measurement measurement;
  TimeInterleaved(batches, others ? &*others : nullptr, item.baseline_seconds, item.options, &measurement);
  return measurement;
}

// A kernel that was sent, and its prepacked constants, which are the same each time.
struct KnownKernel {
  BuiltKernel kernel;
  std::shared_ptr<const PrepackedConstants> prepacked;  // null: not prepacked yet, or evicted
};

// The blobs that were sent to this process. The kind of a blob is known from its first use.
class Blobs {
 public:
  absl::Status Add(const std::string& digest) {
    ASSIGN_OR_RETURN(files_[digest], ReceiveFile(kWorkerSocket, After(kFileSeconds)));
    return absl::OkStatus();
  }

  void Forget(const std::string& digest) {
    files_.erase(digest);
    mapped_.erase(digest);
    data_.erase(digest);
    kernels_.erase(digest);
    std::erase(prepacked_, digest);
  }

  // Keeps the prepacked constants of a kernel, and evicts the oldest ones if there are too many.
  void KeepPrepacked(const std::string& digest, PrepackedConstants prepacked) {
    kernels_.at(digest).prepacked = std::make_shared<const PrepackedConstants>(std::move(prepacked));
    prepacked_.push_back(digest);
    constexpr size_t kMostBytes = size_t{512} << 20;
    size_t bytes = 0;
    for (const std::string& one : prepacked_) bytes += BytesOfPrepacked(one);
    while (bytes > kMostBytes && prepacked_.size() > 1) {
      bytes -= BytesOfPrepacked(prepacked_.front());
      kernels_.at(prepacked_.front()).prepacked.reset();
      prepacked_.pop_front();
    }
  }

  absl::StatusOr<std::span<const std::byte>> BytesOf(const std::string& digest) {
    if (const auto found = mapped_.find(digest); found != mapped_.end()) return found->second.bytes();
    ASSIGN_OR_RETURN(const FileDescriptor file, Take(digest));
    ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Map(file.get()));
    return mapped_.emplace(digest, std::move(mapped)).first->second.bytes();
  }

  absl::StatusOr<const ReferenceData*> DataOf(const std::string& digest) {
    if (const auto found = data_.find(digest); found != data_.end()) return &found->second;
    ASSIGN_OR_RETURN(const FileDescriptor file, Take(digest));
    ASSIGN_OR_RETURN(ReferenceData data, ReferenceData::Map(file.get()));
    data.HideExpected();
    return &data_.emplace(digest, std::move(data)).first->second;
  }

  absl::StatusOr<KnownKernel*> KernelOf(const std::string& digest) {
    if (const auto found = kernels_.find(digest); found != kernels_.end()) return &found->second;
    ASSIGN_OR_RETURN(const FileDescriptor file, Take(digest));
    ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Map(file.get()));
    ASSIGN_OR_RETURN(BuiltKernel kernel, DecodeKernel(mapped.text()));
    return &kernels_.emplace(digest, KnownKernel{std::move(kernel), nullptr}).first->second;
  }

 private:
  size_t BytesOfPrepacked(const std::string& digest) const {
    size_t bytes = 0;
    for (const std::vector<std::byte>& one : *kernels_.at(digest).prepacked) bytes += one.size();
    return bytes;
  }

  absl::StatusOr<FileDescriptor> Take(const std::string& digest) {
    const auto found = files_.find(digest);
    if (found == files_.end()) return absl::NotFoundError(absl::StrCat("the blob ", digest, " is missing"));
    FileDescriptor file = std::move(found->second);
    files_.erase(found);
    return file;
  }

  std::map<std::string, FileDescriptor> files_;  // not used yet
  std::map<std::string, MappedFile> mapped_;
  std::map<std::string, ReferenceData> data_;
  std::map<std::string, KnownKernel> kernels_;
  std::deque<std::string> prepacked_;  // digests of kernels with prepacked constants, oldest first
};

// The kernel of an item, ready to run.
class ReadyKernel {
 public:
  // Prepacks the constants unless that was done before.
  std::optional<Failure> Prepare(Blobs& blobs, const std::string& digest, const MeasureItem& item) {
    const auto kernel = blobs.KernelOf(digest);
    const auto data = blobs.DataOf(item.data);
    for (const absl::Status& status : {kernel.status(), data.status()})
      if (!status.ok()) return Failure{TrialOutcome::kRetry, std::string(status.message())};
    kernel_.emplace((*kernel)->kernel, **data, item.options, item.processors);
    if ((*kernel)->prepacked == nullptr) {
      PrepackedConstants prepacked;
      if (auto failure = kernel_->Prepack(&prepacked)) return failure;
      blobs.KeepPrepacked(digest, std::move(prepacked));
    }
    prepacked_ = (*kernel)->prepacked;
    return std::nullopt;
  }

  const TaskKernel& kernel() const { return *kernel_; }
  const PrepackedConstants& prepacked() const { return *prepacked_; }

 private:
  std::shared_ptr<const PrepackedConstants> prepacked_;
  std::optional<TaskKernel> kernel_;
};

class MeasureWorker {
 public:
  absl::Status Add(const NewBlob& blob) { return blobs_.Add(blob.digest); }
  void Forget(const ForgetBlob& blob) { blobs_.Forget(blob.digest); }

  Measurement Measure(const MeasureItem& item) {
    switch (item.kind) {
      case MeasureItem::Kind::kCheckKernel:
        return CheckKernel(item);
      case MeasureItem::Kind::kTimeKernel:
        return TimeKernel(item);
      case MeasureItem::Kind::kTimeNetwork:
      case MeasureItem::Kind::kProfileNetwork:
        return MeasureNetwork(item);
      case MeasureItem::Kind::kRunNetwork:
        return RunNetwork(item);
      case MeasureItem::Kind::kMeasurePeaks:
        break;
    }
    Measurement measurement;
    measurement.outcome = TrialOutcome::kOk;
    // Not MeasurePeaks(), which would tell for as long as this process lives how the device once was.
    measurement.peaks = BestPeaks({}, item.options.threads);
    return measurement;
  }

 private:
  Measurement CheckKernel(const MeasureItem& item) {
    ReadyKernel ready;
    TaskKernel::Running running;
    auto failure = ready.Prepare(blobs_, item.subject, item);
    if (!failure) failure = ready.kernel().StartGuarded(ready.prepacked(), &running);
    if (!failure) failure = ready.kernel().Check(running);
    if (failure) return Failed(*failure);
    Measurement measurement;
    measurement.outcome = TrialOutcome::kOk;
    return measurement;
  }

  Measurement TimeKernel(const MeasureItem& item) {
    ReadyKernel candidate, baseline;
    if (const auto failure = candidate.Prepare(blobs_, item.subject, item)) return Failed(*failure);
    if (auto measurement = Abandon(candidate, item)) return *std::move(measurement);
    TaskKernel::Running running, other;
    if (const auto failure = candidate.kernel().StartTimed(candidate.prepacked(), &running))
      return Failed(*failure);
    // Start both processes afresh: an older process was measured to be some percent slower, since the
    // memory that the system gives it changes over time. If the baseline does not run, the candidate is
    // timed alone.
    if (!item.baseline.empty() && !baseline.Prepare(blobs_, item.baseline, item))
      baseline.kernel().StartTimed(baseline.prepacked(), &other);
    Measurement measurement = Interleave(*running.process, other.process.get(), item);
    if (measurement.outcome == TrialOutcome::kOk) CheckAgain(candidate.kernel(), running, &measurement);
    return measurement;
  }

  // The result for a candidate that is so slow that it is not worth setting up the memory for timing, which
  // takes longer than the timing itself.
  static std::optional<Measurement> Abandon(const ReadyKernel& candidate, const MeasureItem& item) {
    if (item.baseline_seconds <= 0 || item.options.abandon_ratio <= 0) return std::nullopt;
    TaskKernel::Running running;
    if (const auto failure = candidate.kernel().StartGuarded(candidate.prepacked(), &running))
      return Failed(*failure);
    ProcessBatches batches(*running.process);
    auto measurement = AbandonEarly(batches, item.baseline_seconds, item.options);
    if (measurement && measurement->outcome == TrialOutcome::kOk)
      CheckAgain(candidate.kernel(), running, &*measurement);
    return measurement;
  }

  // Checks that the timed executions did the work. Each execution starts with one poisoned line somewhere
  // in each output, so a kernel that finds its outputs already there and returns at once is revealed by the
  // last batch or by a few more executions.
  static void CheckAgain(const TaskKernel& kernel, TaskKernel::Running& running, Measurement* measurement) {
    for (int round = 0;; ++round) {
      auto failure = kernel.CheckOutputs(running);
      if (!failure && round == kMoreExecutions) return;
      double seconds = 0;
      if (!failure) failure = running.process->Run(1, &seconds);
      if (!failure) continue;
      *measurement = Failed({failure->outcome, absl::StrCat("after it was timed: ", failure->reason)});
      return;
    }
  }

  // A network that is set up in its own process.
  struct RunningNetwork {
    std::unique_ptr<NetworkProgram> program;
    std::unique_ptr<MeasuredProcess> process;
  };
  std::optional<Failure> Start(const std::string& digest, int places, const MeasureItem& item,
                               RunningNetwork* network) {
    const auto artifact = blobs_.BytesOf(digest), inputs = blobs_.BytesOf(item.data);
    for (const absl::Status& status : {artifact.status(), inputs.status()})
      if (!status.ok()) return Failure{TrialOutcome::kRetry, std::string(status.message())};
    const double seconds = 100 * item.options.seconds_limit + 10 * item.options.execution_seconds_limit + 60;
    network->program = std::make_unique<NetworkProgram>(
        NetworkSetup{.artifact = *artifact,
                     .inputs = *inputs,
                     .threads = item.options.threads,
                     .places = places,
                     .has_outputs = item.kind == MeasureItem::Kind::kRunNetwork,
                     .execution_seconds_limit = item.options.execution_seconds_limit,
                     .cpu_seconds_limit = seconds * item.options.threads});
    Failure failure;
    network->process = MeasuredProcess::Start(*network->program, item.processors, &failure);
    if (network->process == nullptr) return failure;
    return std::nullopt;
  }

  Measurement MeasureNetwork(const MeasureItem& item) {
    constexpr size_t kMostPlaces = 8, kMostBytes = size_t{1} << 30;
    const auto artifact = blobs_.BytesOf(item.subject);
    if (!artifact.ok())
      return FailedMeasurement(TrialOutcome::kRetry, std::string(artifact.status().message()));
    const auto places = static_cast<int>(
        std::clamp<size_t>(kMostBytes / std::max<size_t>(artifact->size(), 1), 2, kMostPlaces));
    RunningNetwork subject, baseline;
    auto failure = Start(item.subject, places, item, &subject);
    if (!failure && !item.baseline.empty()) failure = Start(item.baseline, places, item, &baseline);
    if (failure) return Failed(*failure);
    return item.kind == MeasureItem::Kind::kTimeNetwork
               ? Interleave(*subject.process, baseline.process.get(), item)
               : ProfileNetwork(item, subject, baseline);
  }

  Measurement RunNetwork(const MeasureItem& item) {
    RunningNetwork network;
    if (const auto failure = Start(item.subject, /*places=*/1, item, &network)) return Failed(*failure);
    Measurement measurement;
    auto failure = TimeRuns(*network.process, item.options, &measurement.run_seconds);
    if (!failure) failure = network.process->Fetch();
    if (failure) return Failed(*failure);
    auto outputs = NetworkProgram::Outputs(network.process->shared());
    if (!outputs.ok())
      return FailedMeasurement(TrialOutcome::kOutOfMemory, std::string(outputs.status().message()));
    measurement.outputs = *std::move(outputs);
    measurement.outcome = TrialOutcome::kOk;
    return measurement;
  }

  // Times each run by itself, without the time that it takes to wake the process.
  static std::optional<Failure> TimeRuns(MeasuredProcess& process, const MeasureOptions& options,
                                         std::vector<double>* run_seconds) {
    double seconds = 0, least_overhead = std::numeric_limits<double>::infinity();
    if (auto failure = process.Run(1, &seconds)) return failure;
    for (int i = 0; i < kOverheadTurns; ++i) {
      if (auto failure = process.Run(0, &seconds)) return failure;
      least_overhead = std::min(least_overhead, seconds);
    }
    const int least = std::min(kLeastRuns, options.max_batches);
    const Stopwatch watch;
    for (int run = 0; run < options.max_batches && (run < least || watch.Seconds() < options.seconds_limit);
         ++run) {
      if (auto failure = process.Run(1, &seconds)) return failure;
      run_seconds->push_back(std::max(0.0, seconds - least_overhead));
    }
    return std::nullopt;
  }

  static Measurement ProfileNetwork(const MeasureItem& item, RunningNetwork& subject,
                                    RunningNetwork& baseline) {
    Measurement measurement;
    const Stopwatch watch;
    for (int turn = 0; turn < kLeastProfileTurns || watch.Seconds() < item.options.seconds_limit; ++turn) {
      for (auto* const one : {&baseline, &subject}) {
        if (one->process == nullptr) continue;
        auto failure = one->process->Move();
        if (!failure) failure = one->process->Profile();
        if (failure) return Failed(*failure);
        KernelTurns& turns = one == &subject ? measurement.profile : measurement.baseline_profile;
        for (const auto& [digest, seconds] : NetworkProgram::KernelSeconds(one->process->shared()))
          turns[digest].push_back(seconds);
      }
    }
    measurement.outcome = TrialOutcome::kOk;
    return measurement;
  }

  Blobs blobs_;
};

// Does what needs files, and leaves them, as far as the system can.
void PrepareForStrangers() {
  // Measured processes inherit this from here, since they cannot open files. They have more memory than this
  // process, so the system chooses them before it.
  BeAmongTheFirstToGo();
  HostTarget().status().IgnoreError();  // reads the sizes of the caches, which peaks depend on
  if (const absl::Status status = LeaveFiles(); !status.ok())
    Log(LogLevel::kDebug, "measuring process that can open files", "reason", status.message());
}

}  // namespace

int RunMeasureWorker() {
  signal(SIGPIPE, SIG_IGN);  // a dead child shows as an error of write()
  PrepareForStrangers();
  MeasureWorker worker;
  for (;;) {
    const absl::StatusOr<std::string> message = ReceiveMessage(kWorkerSocket, kNoDeadline);
    if (!message.ok()) return 0;
    const absl::StatusOr<WorkerRequest> request = DecodeWorkerRequest(*message);
    constexpr int kDamaged = 2;
    if (!request.ok()) return kDamaged;
    if (const auto* blob = std::get_if<NewBlob>(&*request)) {
      if (!worker.Add(*blob).ok()) return kDamaged;
    } else if (const auto* forgotten = std::get_if<ForgetBlob>(&*request)) {
      worker.Forget(*forgotten);
    } else {
      const Stopwatch watch;
      Measurement measurement = worker.Measure(std::get<MeasureItem>(*request));
      measurement.seconds = watch.Seconds();
      if (!SendMessage(kWorkerSocket, EncodeMeasurement(measurement), kNoDeadline).ok()) return 0;
    }
  }
}

}  // namespace attune
