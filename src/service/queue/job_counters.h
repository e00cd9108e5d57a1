// Counts a server's jobs for its metrics.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_COUNTERS_H_
#define ATTUNE_SERVICE_QUEUE_JOB_COUNTERS_H_

#include <atomic>
#include <cstdint>

namespace attune {

// As of some moments ago.
struct JobCounts {
  int64_t waiting = 0, running = 0;  // jobs that are not over
  int64_t runners = 0;               // that are connected
  int64_t stages = 0;                // that have ended since the server has started
};

// Thread safe.
class JobCounters {
 public:
  // `live`: how many jobs are not over.
  void Set(int64_t live, int64_t running, int64_t runners) {
    waiting_ = live - running;
    running_ = running;
    runners_ = runners;
  }
  void CountStage() { ++stages_; }
  JobCounts counts() const {
    return {.waiting = waiting_, .running = running_, .runners = runners_, .stages = stages_};
  }

 private:
  std::atomic<int64_t> waiting_ = 0, running_ = 0, runners_ = 0, stages_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_COUNTERS_H_
