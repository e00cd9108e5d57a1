// Tells one listener of jobs that have ended.
#ifndef ATTUNE_SERVICE_QUEUE_ENDED_JOBS_H_
#define ATTUNE_SERVICE_QUEUE_ENDED_JOBS_H_

#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace attune {

// Thread safe.
class EndedJobs {
 public:
  // Is called with the id of each job that has ended, well or not, soon after that. Must not block.
  using Listener = std::function<void(const std::string& job)>;

  // Replaces the listener; null: there is none. The earlier one is not called any more.
  void Listen(Listener listener) {
    const std::lock_guard<std::mutex> lock(mutex_);
    listener_ = std::move(listener);
  }
  void Tell(const std::string& job) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (listener_) listener_(job);
  }

 private:
  mutable std::mutex mutex_;
  Listener listener_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_ENDED_JOBS_H_
