#include "tune/worker.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/threads.h"
#include "tune/codec.h"
#include "tune/message.h"
#include "tune/worker_process.h"

namespace attune {
namespace {

// What the program is does not change while it runs, hence a global.
bool main_runs_workers = false;

// Ends this process when the tuner closes its end of the socket or is gone, whatever it is doing then. False
// where the system has no thread for it.
bool EndWithTuner() {
  std::thread watcher;
  const bool started = StartThread(watcher, [] {
    pollfd entry = {kWorkerSocket, POLLRDHUP, 0};
    while (poll(&entry, 1, -1) < 0 && errno == EINTR) {
    }
    _exit(0);
  });
  if (started) watcher.detach();
  return started;
}

// From now on, this process may take so much more time of a processor: the tuner's own limit is on the clock,
// and would not come if it was stopped.
void LimitCpuSeconds(double seconds) {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  rlimit limit = {};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur =
      static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + static_cast<rlim_t>(seconds) + 2;
  setrlimit(RLIMIT_CPU, &limit);
}

absl::StatusOr<BuiltKernel> Build(const std::string& message, const Target& target, const BuildHooks& hooks) {
  absl::StatusOr<DecodedBuildRequest> request = DecodeBuildRequest(message);
  if (!request.ok()) return request.status();
  try {
    return BuildCandidate(request->task, request->candidate, target, hooks);
  } catch (const std::exception& error) {  // a config without a knob that the strategy reads
    return absl::InvalidArgumentError(error.what());
  }
}

int RunBuilder(const BuildHooks& hooks) {
  std::set_new_handler([] { _exit(kOutOfMemoryStatus); });
  const absl::StatusOr<std::string> setup = ReceiveMessage(kWorkerSocket, kNoDeadline);
  if (!setup.ok()) return 0;
  MessageReader reader(*setup);
  const double seconds_limit = reader.Double();
  const absl::StatusOr<Target> target = DecodeTarget(reader.Bytes());
  if (!target.ok() || !reader.Finish().ok()) return 2;
  for (;;) {
    const absl::StatusOr<std::string> message = ReceiveMessage(kWorkerSocket, kNoDeadline);
    if (!message.ok()) return 0;
    LimitCpuSeconds(2 * seconds_limit);
    const auto start = std::chrono::steady_clock::now();
    absl::StatusOr<BuiltKernel> kernel = Build(*message, *target, hooks);
    BuildResult result;
    result.outcome = kernel.ok() ? TrialOutcome::kOk : TrialOutcome::kBuildFailed;
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (kernel.ok()) {
      result.kernel = *std::move(kernel);
    } else {
      result.reason = std::string(kernel.status().message());
    }
    if (!SendMessage(kWorkerSocket, EncodeBuildResult(result), kNoDeadline).ok()) return 0;
  }
}

}  // namespace

std::optional<int> RunIfWorker(int argc, char** argv, const BuildHooks& hooks) {
  main_runs_workers = true;
  if (argc != 3 || std::strcmp(argv[1], kWorkerFlag) != 0) return std::nullopt;
  const std::string_view kind = argv[2];
  if (!EndWithTuner()) {
    // What a worker prints before it greets becomes the tuner's reason.
    std::fputs("the system has no more threads\n", stderr);
    return 1;
  }
  if (!SendMessage(kWorkerSocket, kWorkerGreeting, kNoDeadline).ok()) return 0;
  if (kind == kBuilderKind) return RunBuilder(hooks);
  if (kind == kRunnerKind) return RunRunner();
  return 2;
}

bool MainRunsWorkers() { return main_runs_workers; }

}  // namespace attune
