// Runs independent pieces of work on several cores.
#ifndef ATTUNE_BASE_PARALLEL_H_
#define ATTUNE_BASE_PARALLEL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "base/processors.h"
#include "base/thread_pool.h"

namespace attune {

// Calls f(i) for every i in [0, count) on at most `max_threads` threads, one of which is the caller's, and
// on fewer if the other threads of the process's pool are busy or the system has no more. f must not write
// anything that another i touches, and must not wait for another i; it may call ParallelFor. If f runs out
// of memory, the exception is thrown to the caller, as in a plain loop.
template <typename F>
void ParallelFor(int64_t count, F f, int max_threads = Processors()) {
  std::atomic<int64_t> next = 0;
  std::atomic<bool> out_of_memory = false;
  const auto work = [&] {
    try {
      for (int64_t i = next++; i < count; i = next++) f(i);
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
      next = count;
    }
  };
  RunWithHelpers(std::min<int64_t>(count, max_threads) - 1, work);
  if (out_of_memory) throw std::bad_alloc();
}

}  // namespace attune

#endif  // ATTUNE_BASE_PARALLEL_H_
