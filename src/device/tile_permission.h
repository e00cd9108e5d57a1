// Whether this process may use the tile registers of AMX. The header has no dependencies, so that the
// runtime, which has none either, and the compiler ask in the same way.
//
// Linux gives a process the 8 KiB of tiles in each thread only on request (Linux kernel documentation,
// "Using XSTATE features in user space applications"); without it, the first tile instruction raises
// SIGILL. The permission holds for all threads, including later ones, and is inherited by fork, but not
// over exec. It is refused if a thread has an alternate signal stack that is too small for the larger
// signal frames.
#ifndef ATTUNE_DEVICE_TILE_PERMISSION_H_
#define ATTUNE_DEVICE_TILE_PERMISSION_H_

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace attune {

#if defined(__x86_64__)
namespace internal {

// XCR0, whose bits stand for the registers that the system saves; 0 if it does not say.
inline uint64_t SavedState() {
  constexpr uint32_t kOsXsave = 1u << 27;  // leaf 1, ECX
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & kOsXsave) == 0) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

// Bits of XCR0: the tiles' configuration and data (Intel SDM volume 1, section 13.3).
inline constexpr uint64_t kTileState = 1u << 17 | 1u << 18;

}  // namespace internal
#endif

#if defined(__x86_64__) && defined(__linux__)
namespace internal {

inline bool RequestTiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM; an old asm/prctl.h lacks it
  constexpr long kTileData = 18;               // the state component
  if ((SavedState() & kTileState) != kTileState) return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace internal

// Asks the system on the first call, and returns that answer from then on. Thread safe. It does not tell
// whether the processor has tile instructions: cpuid does. Call it in every process before it runs code
// that uses tiles.
inline bool MayUseTiles() {
  static const bool may = internal::RequestTiles();
  return may;
}
#else
inline bool MayUseTiles() { return false; }
#endif

}  // namespace attune

#endif  // ATTUNE_DEVICE_TILE_PERMISSION_H_
