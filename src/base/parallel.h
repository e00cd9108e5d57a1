// Independent pieces of work on several cores.
#ifndef ATTUNE_BASE_PARALLEL_H_
#define ATTUNE_BASE_PARALLEL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "base/processors.h"
#include "base/thread_pool.h"

namespace attune {

// Calls f(i) for every i in [0, count), on at most so many threads, of which the caller's is one, and on
// fewer where others of the process's pool are busy or the system has no more. f must write nothing that
// another i touches, and wait for none; it may call ParallelFor. Running out of memory in f is thrown to the
// caller, as in a plain loop.
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
