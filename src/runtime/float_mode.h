// The floating-point mode that compiled code assumes.
//
// A thread can round in other directions, flush denormals to 0 or trap on a NaN (MXCSR), and hosts use
// this: audio programs flush denormals, some trap. In such a mode, compiled code would compute other
// results. The library's threads would even compute in the mode of another caller, since a thread inherits
// the mode of the thread that creates it.
#ifndef ATTUNE_RUNTIME_FLOAT_MODE_H_
#define ATTUNE_RUNTIME_FLOAT_MODE_H_

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace attune {

// During its lifetime, the calling thread rounds to nearest even, keeps denormals and never traps; the
// destructor restores the previous mode. Costs a few nanoseconds.
class IeeeMode {
 public:
  IeeeMode() : before_(Get()) {
    if (IsOther()) Set(kDefault);
  }
  ~IeeeMode() {
    if (IsOther()) Set(before_);
  }
  IeeeMode(const IeeeMode&) = delete;
  IeeeMode& operator=(const IeeeMode&) = delete;

 private:
  static constexpr uint32_t kRaisedFlags = 0x3F;  // exceptions raised since the flags were cleared
  static constexpr uint32_t kDefault = 0x1F80;    // the initial state of a process
#if defined(__x86_64__)
  static uint32_t Get() { return _mm_getcsr(); }
  static void Set(uint32_t mode) { _mm_setcsr(mode); }
#else
  static uint32_t Get() { return kDefault; }
  static void Set(uint32_t) {}
#endif
  bool IsOther() const { return (before_ & ~kRaisedFlags) != kDefault; }

  const uint32_t before_;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_FLOAT_MODE_H_
