#include "cli/jobs_server.h"

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/status.h"
#include "cli/output.h"
#include "cli/stops_on_signal.h"
#include "fleet/client/joined_fleet.h"

namespace attune {
namespace {

constexpr double kPollSeconds = 1;
constexpr std::chrono::milliseconds kSignalPause(100);

void Pause(const Cancellation& cancellation) {
  const Stopwatch watch;
  while (!cancellation.is_cancelled() && watch.Seconds() < kPollSeconds)
    std::this_thread::sleep_for(kSignalPause);
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobsClient>> JoinedJobsServer() {
  ASSIGN_OR_RETURN(const FleetCredentials credentials, JoinedCredentials());
  return std::make_unique<JobsClient>(credentials);
}

absl::Status PollServer(const std::function<absl::StatusOr<bool>()>& ask) {
  Cancellation cancellation;
  const StopsOnSignal stops([](void* stopped) { static_cast<Cancellation*>(stopped)->Cancel(); },
                            &cancellation, "\n");
  for (bool is_away = false; !cancellation.is_cancelled(); Pause(cancellation)) {
    const absl::StatusOr<bool> is_over = ask();
    if (is_over.ok() && *is_over) return absl::OkStatus();
    if (!is_over.ok() && !absl::IsUnavailable(is_over.status())) return is_over.status();
    if (!is_over.ok() && !is_away) PrintNote(absl::StrCat(is_over.status().message(), " Waiting for it."));
    is_away = !is_over.ok();
  }
  return absl::CancelledError(
      "no longer waiting; the server goes on with the jobs, and attune jobs list shows them");
}

}  // namespace attune
