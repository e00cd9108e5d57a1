// Bounds the calls that send or fetch a blob or a file piece by piece, each of which has a thread until it
// ends.
//
// Problem: such a call waits for its peer as long as that says nothing, so that one certificate could take
// all threads of the server by calls that do nothing. Idea: the calls of each member are bounded, and all
// calls together are fewer than the server's threads. A call that waits for its peer for minutes is
// cancelled. Price: a peer that stands still for that long calls again.
#ifndef ATTUNE_FLEET_SERVING_FILE_CALLS_H_
#define ATTUNE_FLEET_SERVING_FILE_CALLS_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/identity/certificate.h"

namespace attune {

struct FileCallLimits {
  int of_member = 128;  // a runner has one for each of its jobs
  int in_all = 2048;
  double idle_seconds = 180;  // for which a peer may say nothing
};

// Thread safe. The clock must outlive it, and it its calls.
class FileCalls {
 public:
  explicit FileCalls(const FileCallLimits& limits = {}, const Clock& clock = SystemClock())
      : limits_(limits), clock_(clock) {}

  // One call, as long as this lasts. For one thread.
  class Call {
   public:
    Call(FileCalls& calls, int64_t number) : calls_(calls), number_(number) {}
    ~Call() { calls_.End(number_); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Returns what wait() does, which sends something to the peer or receives something from it.
    template <typename Wait>
    bool Await(const Wait& wait) {
      calls_.NoteWaiting(number_, true);
      const bool done = wait();
      calls_.NoteWaiting(number_, false);
      return done;
    }

   private:
    FileCalls& calls_;
    const int64_t number_;
  };

  // A member begins a call, which another thread may end by cancel(). ResourceExhausted if the member has too
  // many, whatever certificates it shows; Unavailable if all members together do.
  absl::StatusOr<std::unique_ptr<Call>> Begin(const FleetIdentity& who, std::function<void()> cancel);
  // To be called each second or so: cancels the calls whose peers say nothing.
  void CancelIdle();
  // How many there are.
  int64_t count() const;

 private:
  struct Open {
    std::string member = {};
    std::function<void()> cancel = {};
    double waits_since = INFINITY;  // by the clock; infinity: it does not wait for its peer
  };

  void NoteWaiting(int64_t number, bool waits);
  void End(int64_t number);

  const FileCallLimits limits_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  int64_t last_ = 0;
  std::map<int64_t, Open> open_;
  std::map<std::string, int> of_members_;  // how many, by id
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVING_FILE_CALLS_H_
