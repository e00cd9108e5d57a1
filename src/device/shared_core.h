// Finds out whether two processors share a core, by computing on both at once.
//
// Problem: a virtual machine may show the hyper-threads of one core as two cores, and what is measured on one
// is then slowed down by what runs on the other. Idea: a loop that keeps the multiplier of a core busy takes
// about twice as long if the loop runs on the core's other hyper-thread too. Cost: a tenth of a second.
#ifndef ATTUNE_DEVICE_SHARED_CORE_H_
#define ATTUNE_DEVICE_SHARED_CORE_H_

namespace attune {

// The speed of a loop on processor `measured` while the same loop runs on processor `other`, relative to its
// speed alone: about 1 if they are independent, about 0.5 if they share a core. The best of several rounds,
// since other programs may disturb some. 1 if a thread cannot be kept on a processor.
double SpeedBeside(int measured, int other);

// What is slower than this beside another processor shares a core with it.
inline constexpr double kSharedCoreSpeed = 0.8;

}  // namespace attune

#endif  // ATTUNE_DEVICE_SHARED_CORE_H_
