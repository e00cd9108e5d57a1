// The events of runners, which the thread that schedules waits for.
#ifndef ATTUNE_SERVICE_QUEUE_RUNNER_EVENTS_H_
#define ATTUNE_SERVICE_QUEUE_RUNNER_EVENTS_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "work/driver/runners.h"

namespace attune {

// Thread safe.
class RunnerEvents {
 public:
  // Does not wake the waiter: what belongs to the event may be still to do.
  void Push(RunnerEvent event) {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.push_back(std::move(event));
  }
  // Makes Await() return soon, now or the next time.
  void Wake() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_woken_ = true;
    changed_.notify_all();
  }
  // Waits at most this long for events or Wake(), and returns the events that there are.
  std::vector<RunnerEvent> Await(double seconds) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                      [&] { return is_woken_ || !events_.empty(); });
    is_woken_ = false;
    return std::exchange(events_, {});
  }
  void Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;
  std::vector<RunnerEvent> events_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_RUNNER_EVENTS_H_
