#include "tune/task/build_worker.h"

#include <unistd.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/process/message.h"
#include "base/process/sandbox.h"
#include "base/process/worker.h"
#include "base/process/worker_process.h"
#include "tune/task/codec.h"

namespace attune {
namespace {

absl::StatusOr<BuiltKernel> Build(const std::string& message, const Target& target, const BuildHooks& hooks) {
  absl::StatusOr<DecodedBuildRequest> request = DecodeBuildRequest(message);
  if (!request.ok()) return request.status();
  try {
    return BuildCandidate(request->task, request->candidate, target, hooks);
  } catch (const std::exception& error) {  // a config lacks a knob that the strategy reads
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace

int RunBuildWorker(const BuildHooks& hooks) {
  std::set_new_handler([] { _exit(kOutOfMemoryStatus); });
  const absl::StatusOr<std::string> message = ReceiveMessage(kWorkerSocket, kNoDeadline);
  if (!message.ok()) return 0;
  const absl::StatusOr<BuildSetUp> set_up = DecodeBuildSetUp(*message);
  constexpr int kDamaged = 2;
  if (!set_up.ok()) return kDamaged;
  // As far as the system can: processes that run the code refuse one without filters, this one does not.
  if (const absl::Status status = ForbidFiles(); !status.ok())
    Log(LogLevel::kDebug, "builder that can open files", "reason", status.message());
  ForbidAllButComputing();
  for (;;) {
    const absl::StatusOr<std::string> request = ReceiveMessage(kWorkerSocket, kNoDeadline);
    if (!request.ok()) return 0;
    // The builder has a limit on wall-clock time, but cannot enforce it if its process is stopped.
    LimitCpuSeconds(2 * set_up->seconds_limit);
    const Stopwatch watch;
    absl::StatusOr<BuiltKernel> kernel = Build(*request, set_up->target, hooks);
    BuildResult result;
    result.outcome = kernel.ok() ? TrialOutcome::kOk : TrialOutcome::kBuildFailed;
    result.seconds = watch.Seconds();
    if (kernel.ok()) {
      result.kernel = *std::move(kernel);
    } else {
      result.reason = std::string(kernel.status().message());
    }
    if (!SendMessage(kWorkerSocket, EncodeBuildResult(result), kNoDeadline).ok()) return 0;
  }
}

}  // namespace attune
