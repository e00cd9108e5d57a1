#include "cli/common/service_command.h"

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "base/clock.h"
#include "base/crash_report.h"
#include "base/log.h"
#include "cli/common/stops_on_signal.h"

namespace attune {

void LogToPeople(const CLI::App& command) {
  ReportCrashes();
  if (!IsLogged(LogLevel::kInfo) && command.get_option("--log-level")->count() == 0)
    SetLogLevel(LogLevel::kInfo);
}

void AwaitStop() {
  RepeatUntilStop(std::numeric_limits<double>::infinity(), [] {});
}

void RepeatUntilStop(double seconds, const std::function<void()>& step) {
  std::atomic<bool> is_stopped = false;
  const StopsOnSignal stops([](void* stopped) { *static_cast<std::atomic<bool>*>(stopped) = true; },
                            &is_stopped, "\nstopping; interrupt again to exit at once\n");
  constexpr std::chrono::milliseconds kPoll(100);
  while (!is_stopped) {
    step();
    const Stopwatch since_step;
    while (!is_stopped && since_step.Seconds() < seconds) std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace attune
