#include "fleet/host/device_host_worker.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "base/process/message.h"
#include "base/process/worker_process.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/threads.h"
#include "device/contention.h"
#include "device/device.h"
#include "device/lease.h"
#include "device/placement.h"
#include "fleet/host/batch_queue.h"
#include "fleet/host/device_host.h"
#include "fleet/host/host_messages.h"
#include "fleet/host/sandbox_lacks.h"
#include "measure/local_service.h"

namespace attune {
namespace {

constexpr int64_t kMaxBlobBytes = int64_t{4} << 30;  // as many as the service keeps
constexpr double kFileSeconds = 30;                  // for an announced file to arrive
constexpr double kPollSeconds = 0.1;                 // between two looks whether a batch was cancelled

// Sends reports to the agent. For one thread.
class Reports {
 public:
  // Ends the process if the agent is gone.
  void Send(const HostReport& report) {
    if (!SendMessage(kWorkerSocket, EncodeHostReport(report), kNoDeadline).ok()) _exit(0);
    since_last_.Lap();
  }
  // Shows that this thread is alive, if it has sent nothing for some time.
  void Beat() {
    if (since_last_.Seconds() >= kHostBeatSeconds) Send(HostAlive{});
  }

 private:
  Stopwatch since_last_;
};

// All batches share these.
struct Measuring {
  DeviceLeases leases;
  LocalMeasuringService service;
  BatchQueue queue;
  Reports reports;  // for the thread that runs batches
};

// Runs one batch: the current one of the queue.
class HostedBatch {
 public:
  HostedBatch(Measuring& measuring, RunBatch batch) : measuring_(measuring), batch_(std::move(batch)) {}

  void Run() {
    ReportMissing();
    if (!batch_.items.empty()) LeaseAndMeasure();
    measuring_.reports.Send(HostBatchOver{batch_.number});
  }

 private:
  // Ends the items whose blobs are missing, and removes them from the batch.
  void ReportMissing() {
    std::erase_if(batch_.items, [&](const HostItem& item) {
      std::vector<std::string> missing = MissingBlobs(item.item);
      if (missing.empty()) return false;
      const std::string reason = absl::StrCat("blobs are missing: ", absl::StrJoin(missing, ", "));
      measuring_.reports.Send(HostResult{
          batch_.number, item.index, FailedMeasurement(TrialOutcome::kRetry, reason), std::move(missing)});
      return true;
    });
  }

  std::vector<std::string> MissingBlobs(const MeasureItem& item) const {
    std::vector<std::string> missing;
    for (const std::string& digest : {item.subject, item.data, item.baseline}) {
      const bool is_named = std::ranges::find(missing, digest) != missing.end();
      if (!digest.empty() && !is_named && !measuring_.service.Has(digest)) missing.push_back(digest);
    }
    return missing;
  }

  void LeaseAndMeasure() {
    const bool is_exclusive =
        std::ranges::any_of(batch_.items, [](const HostItem& item) { return item.item.is_exclusive(); });
    const absl::StatusOr<DeviceLease> lease = Acquire(is_exclusive);
    if (!lease.ok()) return FailAll(lease.status());
    measuring_.reports.Send(HostLeased{batch_.number, is_exclusive, lease->processors(), lease->isolated()});
    Measure(lease->processors());
  }

  absl::StatusOr<DeviceLease> Acquire(bool is_exclusive) {
    if (measuring_.queue.IsCancelled()) return absl::CancelledError();
    // Other programs may hold the processors for long, so the wait itself shows life.
    const LeaseWait wait = {.is_cancelled = [&] {
      measuring_.reports.Beat();
      return measuring_.queue.IsCancelled();
    }};
    if (!is_exclusive) {
      const size_t all = measuring_.leases.device().usable.size();
      return measuring_.leases.AcquireShared(static_cast<int>(all), wait);
    }
    int threads = 1;
    for (const HostItem& item : batch_.items) threads = std::max(threads, item.item.options.threads);
    return measuring_.leases.AcquireExclusive(threads, Isolation::kDevice, wait);
  }

  void FailAll(const absl::Status& status) {
    const std::string reason =
        absl::IsCancelled(status) ? "cancelled" : absl::StrCat("no lease: ", status.message());
    for (const HostItem& item : batch_.items) Report(item, FailedMeasurement(TrialOutcome::kRetry, reason));
  }

  void Measure(const std::vector<int>& processors) {
    std::vector<MeasureItem> items;
    for (const HostItem& item : batch_.items) items.emplace_back(item.item).processors = processors;
    ProcessWaits waits(getpid());
    Stopwatch since_result;
    const std::unique_ptr<MeasureBatch> submitted = measuring_.service.Submit(std::move(items));
    while (!submitted->is_over()) {
      if (measuring_.queue.IsCancelled()) submitted->Cancel();
      auto result = submitted->Next(After(kPollSeconds));
      waits.Look();
      if (result) {
        // Leases that share the device wait for each other.
        const HostItem& item = batch_.items[result->first];
        const double share = waits.Take() / std::max(since_result.Lap(), kPollSeconds);
        if (item.item.is_exclusive()) result->second.waited_share = share;
        Report(item, std::move(result->second));
      }
      measuring_.reports.Beat();
    }
  }

  void Report(const HostItem& item, Measurement measurement) {
    measuring_.reports.Send(HostResult{batch_.number, item.index, std::move(measurement)});
  }

  Measuring& measuring_;
  RunBatch batch_;
};

// The loop of the thread that runs batches.
void RunBatches(Measuring& measuring) {
  for (;;) {
    if (std::optional<RunBatch> batch = measuring.queue.Take(After(kHostBeatSeconds)))
      HostedBatch(measuring, *std::move(batch)).Run();
    measuring.reports.Beat();
  }
}

// Keeps the bytes of a file. They are copied before they are checked, since others may still change the file.
absl::Status KeepBlob(LocalMeasuringService& service, const std::string& digest, const FileDescriptor& file) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(absl::StrCat("/proc/self/fd/", file.get()), kMaxBlobBytes));
  ASSIGN_OR_RETURN(const Blob blob, Blob::Of(std::move(bytes)));
  if (blob.digest() != digest)
    return InvalidInput("its digest is ", blob.digest(), ", and ", digest, " was announced");
  return service.Put(blob);
}

absl::Status ReceiveBlob(LocalMeasuringService& service, const std::string& digest) {
  ASSIGN_OR_RETURN(const FileDescriptor file, ReceiveFile(kWorkerSocket, After(kFileSeconds)));
  const absl::Status kept = KeepBlob(service, digest, file);
  // Batches that use it will say that it is missing.
  if (!kept.ok()) Log(LogLevel::kWarning, "dropped a blob", "digest", digest, "reason", kept.message());
  return absl::OkStatus();
}

absl::Status CarryOut(Measuring& measuring, HostCommand command) {
  absl::Status status;
  std::visit(Overloaded{[&](const NewBlob& blob) { status = ReceiveBlob(measuring.service, blob.digest); },
                        [&](const ForgetBlob& blob) { measuring.service.Forget(blob.digest); },
                        [&](RunBatch& batch) { measuring.queue.Add(std::move(batch)); },
                        [&](const CancelBatch& cancelled) { measuring.queue.Cancel(cancelled.number); }},
             command);
  return status;
}

// Reads commands until one fails, and returns the exit status of the process.
int ReadCommands(Measuring& measuring) {
  constexpr int kDamaged = 2;
  for (;;) {
    const absl::StatusOr<std::string> message = ReceiveMessage(kWorkerSocket, kNoDeadline);
    if (!message.ok()) return 0;
    absl::StatusOr<HostCommand> command = DecodeHostCommand(*message);
    if (!command.ok() || !CarryOut(measuring, *std::move(command)).ok()) return kDamaged;
  }
}

absl::StatusOr<DeviceLeases> LeasesOfThisMachine() {
  ASSIGN_OR_RETURN(DeviceInfo device, HostDevice());
  // Clients take a thread for each usable processor, which a control group may not have the time for.
  const int processors = std::min(Processors(), static_cast<int>(device.usable.size()));
  if (const auto within = ChoosePlacement(device, processors, Isolation::kNone, ProcessorSet()))
    device.usable = within->processors;
  return DeviceLeases::Open(std::move(device));
}

}  // namespace

int RunDeviceHost() {
  // Forks, and so comes before the first thread.
  std::vector<std::string> lacks = SandboxLacks();
  absl::StatusOr<DeviceLeases> leases = LeasesOfThisMachine();
  if (!leases.ok()) {
    // The agent reports what is printed here as the reason.
    std::fprintf(stderr, "%s\n", leases.status().ToString().c_str());
    return 1;
  }
  const DeviceInfo& device = leases->device();
  Measuring measuring = {.leases = *leases,
                         .service = {device, {.checkers = static_cast<int>(device.usable.size())}},
                         .queue = {},
                         .reports = {}};
  measuring.reports.Send(HostReady{device, std::move(lacks)});
  std::thread runner;
  if (!StartThread(runner, [&] { RunBatches(measuring); })) {
    std::fputs("the system has no more threads\n", stderr);
    return 1;
  }
  // Batches end with the process: their callers are gone.
  _exit(ReadCommands(measuring));
}

}  // namespace attune
