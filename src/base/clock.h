// Time as a dependency that is passed in: code that waits, measures time or writes time stamps takes a
// clock, so that tests can pass their own.
#ifndef ATTUNE_BASE_CLOCK_H_
#define ATTUNE_BASE_CLOCK_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace attune {

// Thread safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since some fixed moment; never goes back.
  virtual double Now() const = 0;
  // Milliseconds since 1970, UTC; may jump.
  virtual int64_t WallMillis() const = 0;
  // Waits until Now() has reached `time`, which may be infinite, or until `changed` is notified; may return
  // before either. Releases the lock meanwhile. Unless a clock overrides it, it looks at Now() all the time,
  // since a test that moves a clock notifies no thread.
  virtual void WaitUntil(double time, std::condition_variable& changed,
                         std::unique_lock<std::mutex>& lock) const;
};

// The system's clock.
const Clock& SystemClock();

// Measures how long something takes. Not thread safe; the clock must outlive it.
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock = SystemClock()) : clock_(clock), start_(clock.Now()) {}

  // Seconds since the last Lap(), or since construction.
  double Seconds() const { return clock_.Now() - start_; }
  // The same, and starts again.
  double Lap() {
    const double now = clock_.Now(), seconds = now - start_;
    start_ = now;
    return seconds;
  }

 private:
  const Clock& clock_;
  double start_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_CLOCK_H_
