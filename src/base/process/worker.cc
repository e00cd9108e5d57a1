#include "base/process/worker.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/process/message.h"
#include "base/process/namespaces.h"
#include "base/process/worker_process.h"
#include "base/threads.h"

namespace attune {
namespace {

// Whether main() has called RunIfWorker(). A global, since it is a property of the program.
bool main_runs_workers = false;

std::string build_id;  // likewise

// Ends this process when its parent closes its end of the socket or is gone, whatever this process is doing
// at that moment. Returns false if the system has no thread for it.
bool EndWithParent() {
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

}  // namespace

void LimitCpuSeconds(double seconds) {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  rlimit limit = {};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur =
      static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + static_cast<rlim_t>(seconds) + 2;
  setrlimit(RLIMIT_CPU, &limit);
}

std::optional<int> RunIfWorker(int argc, char** argv, std::span<const WorkerKind> kinds) {
  main_runs_workers = true;
  if (argc != 4 || std::strcmp(argv[1], kWorkerFlag) != 0) return std::nullopt;
  if (BuildId() != argv[3]) {
    // The parent reports this text as the reason why the worker did not start.
    std::fputs("it is of another build of Attune; install both from one\n", stderr);
    return 1;
  }
  const auto kind = std::ranges::find(kinds, std::string_view(argv[2]), &WorkerKind::name);
  if (kind == kinds.end() || kind->is_confined) {
    if (const absl::Status status = EnterNamespaces(); !status.ok())
      Log(LogLevel::kDebug, "worker without namespaces", "reason", status.message());
  }
  if ((kind == kinds.end() || kind->is_watched) && !EndWithParent()) {
    // The parent reports this text as the reason why the worker did not start.
    std::fputs("the system has no more threads\n", stderr);
    return 1;
  }
  if (!SendMessage(kWorkerSocket, WorkerGreeting(), kNoDeadline).ok()) return 0;
  constexpr int kUnknownKind = 2;
  return kind == kinds.end() ? kUnknownKind : kind->run();
}

void SetBuildId(std::string id) { build_id = std::move(id); }
const std::string& BuildId() { return build_id; }

std::string WorkerGreeting() { return absl::StrCat("attune worker 4 ", BuildId()); }

bool MainRunsWorkers() { return main_runs_workers; }

}  // namespace attune
