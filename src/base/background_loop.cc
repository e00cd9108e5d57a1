#include "base/background_loop.h"

#include <utility>

#include "base/threads.h"

namespace attune {

BackgroundLoop::BackgroundLoop(Step step, const Clock& clock) : step_(std::move(step)), clock_(clock) {}

absl::Status BackgroundLoop::Start(double seconds) {
  const std::lock_guard<std::mutex> starting(thread_mutex_);
  if (thread_.joinable() || is_stopped())
    return absl::FailedPreconditionError("the background thread was started or stopped before");
  if (StartThread(thread_, [this, due = clock_.Now() + seconds] { Run(due); })) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no more threads");
}

void BackgroundLoop::Wake() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_woken_ = true;
  }
  changed_.notify_all();
}

void BackgroundLoop::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  const std::lock_guard<std::mutex> ending(thread_mutex_);
  if (thread_.joinable()) thread_.join();
}

bool BackgroundLoop::is_stopped() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_stopped_;
}

void BackgroundLoop::Run(double due) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    while (!is_stopped_ && !is_woken_ && clock_.Now() < due) clock_.WaitUntil(due, changed_, lock);
    if (is_stopped_) return;
    is_woken_ = false;
    lock.unlock();
    const double seconds = step_();
    lock.lock();
    due = clock_.Now() + seconds;
  }
}

}  // namespace attune
