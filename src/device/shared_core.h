// Finds out whether two processors share a core, by computing on both at once.
//
// Problem: a virtual machine may show the hyper-threads of one core as two cores, and what is measured on one
// is then slowed down by what runs on the other. Idea: a loop that keeps the multiplier of a core busy takes
// about twice as long if the loop runs on the core's other hyper-thread too. A host may take a moment to give
// two virtual processors that have just become busy a core each, so that only a second of sharing counts.
// Cost: some hundredths of a second if they are independent, and a second if not.
#ifndef ATTUNE_DEVICE_SHARED_CORE_H_
#define ATTUNE_DEVICE_SHARED_CORE_H_

#include <span>

namespace attune {

// The speed of a loop on processor `measured` while the same loop runs on the processors `others`, relative
// to its speed alone: about 1 if they are independent, about 0.5 if one of them shares its core. The best of
// many short rounds, since other programs may disturb some; the first that shows that they are independent
// ends it. 1 if a thread cannot be kept on a processor.
double SpeedBeside(int measured, std::span<const int> others);

// A processor that is slower than this beside another one shares a core with it.
inline constexpr double kSharedCoreSpeed = 0.8;

}  // namespace attune

#endif  // ATTUNE_DEVICE_SHARED_CORE_H_
