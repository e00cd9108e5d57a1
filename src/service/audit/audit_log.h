// Writes entries of the audit store for many threads.
#ifndef ATTUNE_SERVICE_AUDIT_AUDIT_LOG_H_
#define ATTUNE_SERVICE_AUDIT_AUDIT_LOG_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "base/background_loop.h"
#include "base/clock.h"
#include "service/state/audit_store.h"

namespace attune {

// Thread safe. Entries that come at the same time are written together. The store must outlive it.
class AuditLog {
 public:
  // The days for which entries are kept.
  explicit AuditLog(AuditStore& store, int64_t days = 400, const Clock& clock = SystemClock())
      : store_(store), days_(days), clock_(clock) {}
  // Writes what waits.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Fails if the system has no thread to give.
  absl::Status Begin() { return loop_.Start(); }

  // Sets the time, and returns once the entry is there: what it announces may then be done.
  absl::Status Announce(AuditEntry entry);
  // The same, a little later; what has been announced before has ended.
  void Add(AuditEntry entry);

  AuditStore& store() { return store_; }

 private:
  struct Waiting {
    AuditEntry entry = {};
    bool is_over = false;
    absl::Status written = {};
  };
  // Writes all that waits; for one thread at a time.
  void Write(std::unique_lock<std::mutex>& lock);
  double Step();

  AuditStore& store_;
  const int64_t days_;
  const Clock& clock_;

  std::mutex mutex_;
  std::condition_variable changes_;
  bool is_writing_ = false;
  std::vector<std::shared_ptr<Waiting>> waiting_;

  std::optional<Stopwatch> since_forgetting_;  // for the thread
  BackgroundLoop loop_{[this] { return Step(); }, clock_};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_AUDIT_AUDIT_LOG_H_
