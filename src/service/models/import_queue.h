// Models that wait for their import: a bounded number at a time, and tenants in turn.
#ifndef ATTUNE_SERVICE_MODELS_IMPORT_QUEUE_H_
#define ATTUNE_SERVICE_MODELS_IMPORT_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/threads.h"

namespace attune {

// Thread safe.
class ImportQueue {
 public:
  // `import` is called by one of `workers` threads with the tenant and the model's id.
  ImportQueue(int workers, size_t most_waiting,
              std::function<void(const std::string&, const std::string&)> import)
      : workers_(workers), most_waiting_(most_waiting), import_(std::move(import)) {}
  ~ImportQueue() { Stop(); }
  ImportQueue(const ImportQueue&) = delete;
  ImportQueue& operator=(const ImportQueue&) = delete;

  // Fails if the system has no thread to give.
  absl::Status Begin();
  // Drops those that wait, and waits for those that are imported.
  void Stop();

  // True if it waits now, also if it is being imported; false if so many of the tenant's wait that this one
  // cannot.
  bool Add(const std::string& tenant, const std::string& id);

  struct Counts {
    int64_t waiting = 0, running = 0;
  };
  Counts counts() const;

 private:
  // The loop of a thread.
  void Run();
  // Takes the first one of the tenant whose turn it is. One must wait.
  std::pair<std::string, std::string> TakeNext();

  const int workers_;
  const size_t most_waiting_;  // of one tenant
  const std::function<void(const std::string&, const std::string&)> import_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_ending_ = false;
  std::map<std::string, std::deque<std::string>> waiting_;  // by tenant; none is empty
  int64_t running_ = 0;
  std::string last_tenant_;  // whose turn it was
  ThreadGroup threads_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_IMPORT_QUEUE_H_
