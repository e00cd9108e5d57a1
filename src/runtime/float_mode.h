// The mode of floating point that compiled code is made for.
//
// A thread can round in other directions, take denormals for 0 or trap on a NaN (MXCSR), and hosts do: audio
// programs flush denormals, some trap. Compiled code would compute something else there, and in the library's
// threads, which take the mode of the thread that made them, what another caller likes.
#ifndef ATTUNE_RUNTIME_FLOAT_MODE_H_
#define ATTUNE_RUNTIME_FLOAT_MODE_H_

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace attune {

// While it lives, the calling thread rounds to the nearest even number, keeps denormals and traps on nothing;
// then it has the mode again that it had. Costs a few nanoseconds.
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
  static constexpr uint32_t kRaisedFlags = 0x3F;  // what has happened since somebody cleared them
  static constexpr uint32_t kDefault = 0x1F80;    // as a process begins
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
