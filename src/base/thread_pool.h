// The threads that this process's parallel loops share.
//
// Problem. If loops that run at the same time, or inside each other, each started threads of their own,
// there would be more threads than processors, and every loop would pay for starting them.
//
// Idea. The thread that has the work does it itself, and idle threads of one shared pool help. No thread
// waits for a helper that has not begun, so loops may be nested, and the work is done even if the system has
// no thread to give. Threads are started when they are first useful, and stay idle until the process ends.
//
// A child made by fork has none of the threads; it creates its own pool when it first needs one.
#ifndef ATTUNE_BASE_THREAD_POOL_H_
#define ATTUNE_BASE_THREAD_POOL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace attune {

// Calls `work` on this thread and, at the same time, on up to `helpers` others, which run on the processors
// that this thread may run on; returns when all calls have returned. The process has at most as many such
// threads as processors minus one, so `work` must not wait for another call of itself. An exception from
// the call on this thread leaves this function; one from another thread ends the program. Thread safe.
void RunWithHelpers(int64_t helpers, absl::FunctionRef<void()> work);

}  // namespace attune

#endif  // ATTUNE_BASE_THREAD_POOL_H_
