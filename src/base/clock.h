// Time, as something that is given: whoever waits, times or stamps takes a clock, and tests give theirs.
#ifndef ATTUNE_BASE_CLOCK_H_
#define ATTUNE_BASE_CLOCK_H_

#include <cstdint>

namespace attune {

// Thread safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since some moment; never goes back.
  virtual double Now() const = 0;
  // Milliseconds since 1970, UTC; may jump.
  virtual int64_t WallMillis() const = 0;
};

// The system's.
const Clock& SystemClock();

}  // namespace attune

#endif  // ATTUNE_BASE_CLOCK_H_
