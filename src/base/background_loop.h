// A thread that repeats one step: when the step is due, and when the thread is woken.
//
// Problem: each class with a background thread needs a lock, a condition, two flags and a join, and a wake-up
// is easily lost between a step and the wait after it. Idea: the loop has all of these. A step does what
// there is to do now and returns when it is due again; the data that it works on, and their lock, stay with
// the class. An item of a queue is a step, too: its owner adds the item and wakes the loop.
#ifndef ATTUNE_BASE_BACKGROUND_LOOP_H_
#define ATTUNE_BASE_BACKGROUND_LOOP_H_

#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "base/clock.h"

namespace attune {

// Thread safe; but a step must not call Stop(), nor destroy the loop. A class declares its loop as the last
// member, so that the thread ends before anything that the step uses.
class BackgroundLoop {
 public:
  // Returned by a step that is due once the loop is woken, and not before.
  static constexpr double kUntilWoken = std::numeric_limits<double>::infinity();

  // Does some work, and returns the seconds until it is due again, counted from its end; 0: at once. It is
  // called by the loop's thread alone, so that no two run at the same time. It must not throw.
  using Step = std::function<double()>;

  // The clock must outlive the loop.
  explicit BackgroundLoop(Step step, const Clock& clock = SystemClock());
  BackgroundLoop(const BackgroundLoop&) = delete;
  BackgroundLoop& operator=(const BackgroundLoop&) = delete;
  // As Stop().
  ~BackgroundLoop() { Stop(); }

  // Starts the thread; its first step is due in this many seconds. Returns ResourceExhausted if the system
  // has no thread to give, and may then be called again; FailedPrecondition after a start, or a Stop().
  absl::Status Start(double seconds = 0);
  // Makes the next step due now, also before Start(). A step that begins after this call sees all that was
  // written before it: if one runs already, another one follows.
  void Wake();
  // Waits for the step that runs, and ends the thread. No step begins any more, whether or not one is due;
  // Wake() does nothing from now on. May be called without Start(), and several times.
  void Stop();
  // Returns whether Stop() was called: a step that takes long may then end early.
  bool is_stopped() const;

 private:
  void Run(double due);

  const Step step_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false, is_stopped_ = false;

  std::mutex thread_mutex_;  // for the thread's start and end; taken before mutex_
  std::thread thread_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_BACKGROUND_LOOP_H_
