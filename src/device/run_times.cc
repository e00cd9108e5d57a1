#include "device/run_times.h"

#include <algorithm>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "device/contention.h"

namespace attune {

double RunTimes::waited_share() const {
  return wall_seconds > 0 ? std::clamp(1 - processor_seconds / wall_seconds, 0.0, 1.0) : 0;
}

RunTimes RunWatch::Now() {
  constexpr double kNano = 1e-9;
  timespec processor = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &processor);
  return {.wall_seconds = SystemClock().Now(),
          .processor_seconds =
              static_cast<double>(processor.tv_sec) + kNano * static_cast<double>(processor.tv_nsec)};
}

void RunWatch::Begin() { begin_ = Now(); }

void RunWatch::End() {
  const RunTimes end = Now();
  times_.wall_seconds += end.wall_seconds - begin_.wall_seconds;
  times_.processor_seconds += end.processor_seconds - begin_.processor_seconds;
}

std::string DescribeDisturbance(double waited_share, const RunTimes& times) {
  if (waited_share < kDisturbedShare) return "";
  std::string text = "the machine is busy: ";
  if (times.wall_seconds > 0) {
    absl::StrAppendFormat(&text,
                          "in %.3f s of runs, their thread had a processor for %.3f s (%.0f %% waiting)",
                          times.wall_seconds, times.processor_seconds, 100 * waited_share);
  } else {
    absl::StrAppendFormat(&text, "the runs waited for a processor %.0f %% of the time", 100 * waited_share);
  }
  return text + ", so that the times are too long; end other programs, or take fewer threads";
}

}  // namespace attune
