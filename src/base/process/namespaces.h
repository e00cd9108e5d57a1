// Namespaces: a process that works for strangers sees an empty part of the system instead of the user's.
//
// They are the outer ones of the fences (sandbox.h), and need no privileges where a system gives them to
// everyone. Some systems, among them many containers, do not: then the status says why, and the inner fences
// hold alone.
#ifndef ATTUNE_BASE_PROCESS_NAMESPACES_H_
#define ATTUNE_BASE_PROCESS_NAMESPACES_H_

#include <sys/types.h>

#include "absl/status/status.h"

namespace attune {

// Moves this process into user, network and IPC namespaces of its own: it reaches no network, not even this
// machine's loopback, no other process's shared memory or semaphores, and has no privileges outside.
// Processes that it starts are in them too. Call it before the first thread is started.
absl::Status EnterNamespaces();

// Moves the calling thread, and the threads and processes that it starts from now on, into a mount namespace
// whose root is an empty folder that cannot be written to: they see no file that has a name, not even /proc.
// Files that are open stay so. Call it after EnterNamespaces(), which gives the right to do so. Does nothing
// under a sanitizer, whose runtime reads /proc, and says so.
absl::Status LeaveFiles();

// Like fork(), but the child is process 1 of a PID namespace of its own, if the system allows that: it can
// name no other process, and its end ends all that it has started. To the child, its parent has the number 0.
// All other threads of this process must be waiting forever: unlike fork(), it runs no handlers.
pid_t ForkAlone();

// Gives up all capabilities, those of this process in its namespaces and those of a superuser, from now on
// and also for the threads that it starts. Call it before the first thread is started. Returns false if the
// system refuses.
bool GiveUpCapabilities();

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_NAMESPACES_H_
