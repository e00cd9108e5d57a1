// Moves a process, with or without the processes that it has started, to other processors.
#ifndef ATTUNE_DEVICE_PIN_TREE_H_
#define ATTUNE_DEVICE_PIN_TREE_H_

#include <sys/types.h>

#include <span>

namespace attune {

// All threads of this process, or of `root`, and of its descendants run only on these processors from now on,
// and so do those that they start. Threads that start meanwhile, and those that the system does not let us
// move, are left where they are.
void PinProcessTree(std::span<const int> processors);
void PinProcessTree(std::span<const int> processors, pid_t root);

// The same for all threads of this process. The processes that it has started before stay where they are.
void PinOwnThreads(std::span<const int> processors);

}  // namespace attune

#endif  // ATTUNE_DEVICE_PIN_TREE_H_
