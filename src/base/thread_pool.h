// The threads that this process's parallel loops share.
//
// Problem. Loops that run at the same time, or in each other, would each start threads of their own: more
// than the machine has processors, and each of them anew.
//
// Idea. Who has work does it himself, and idle threads of one pool help. Nobody waits for a helper that has
// not begun, so loops may stand in loops, and work gets done where the system gives no thread at all. The
// threads are started when they are first of use, and stay, idle, until the process ends.
//
// A child made by fork has none of the threads, and gets a pool of its own when it first needs one.
#ifndef ATTUNE_BASE_THREAD_POOL_H_
#define ATTUNE_BASE_THREAD_POOL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace attune {

// Calls `work` on this thread and, at the same time, on up to so many others, which run on the processors
// that this one may run on; returns when it has returned everywhere. The process has at most one such thread
// less than processors, so `work` must not wait for another call of it. An exception leaves this function
// when it comes from the call on this thread, and ends the program otherwise. Thread safe.
void RunWithHelpers(int64_t helpers, absl::FunctionRef<void()> work);

}  // namespace attune

#endif  // ATTUNE_BASE_THREAD_POOL_H_
