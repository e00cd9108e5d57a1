// For tests that wait for what another thread or process does.
#ifndef ATTUNE_BASE_TESTING_AWAIT_THAT_H_
#define ATTUNE_BASE_TESTING_AWAIT_THAT_H_

#include <chrono>
#include <cstdio>
#include <source_location>
#include <thread>

#include "base/clock.h"

namespace attune::testing {

// Waits until `condition()` holds, for as long as that takes: how long is long depends on the machine, and
// the program that runs the tests ends those that hang. Says where it waits once that is unusual.
template <typename Condition>
void AwaitThat(const Condition& condition, std::source_location where = std::source_location::current()) {
  constexpr double kUnusualSeconds = 60;
  const Stopwatch waited;
  bool has_said = false;
  while (!condition()) {
    if (!has_said && waited.Seconds() > kUnusualSeconds) {
      std::fprintf(stderr, "%s:%u: still waiting\n", where.file_name(), where.line());
      has_said = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_AWAIT_THAT_H_
