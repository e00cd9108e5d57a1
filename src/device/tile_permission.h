// Whether this process may use the tile registers of AMX. It stands alone, so that the runtime, which has no
// dependencies, asks as the compiler does.
//
// Linux gives a process the 8 KiB of tiles in each thread only when it asks (Linux kernel documentation,
// "Using XSTATE features in user space applications"): the first tile instruction of one that did not ask
// raises SIGILL. The answer holds for all threads, those that come later too, and is inherited by fork, but
// not over exec. It is no where a thread has an alternate signal stack that the larger signal frames do not
// fit.
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

// XCR0, whose bits stand for the registers that the system saves; 0 where it does not say.
inline uint64_t SavedState() {
  constexpr uint32_t kOsXsave = 1u << 27;  // leaf 1, ECX
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & kOsXsave) == 0) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

// Of XCR0: the tiles' configuration and data (Intel SDM volume 1, section 13.3).
inline constexpr uint64_t kTileState = 1u << 17 | 1u << 18;

}  // namespace internal
#endif

#if defined(__x86_64__) && defined(__linux__)
namespace internal {

inline bool RequestTiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM of asm/prctl.h, which may be older
  constexpr long kTileData = 18;               // the state component
  if ((SavedState() & kTileState) != kTileState) return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace internal

// Asks the system when it is first called, and gives that answer from then on. Thread safe. It says nothing
// of the instructions: cpuid does. Call it in every process that runs code for tiles, before it does.
inline bool MayUseTiles() {
  static const bool may = internal::RequestTiles();
  return may;
}
#else
inline bool MayUseTiles() { return false; }
#endif

}  // namespace attune

#endif  // ATTUNE_DEVICE_TILE_PERMISSION_H_
