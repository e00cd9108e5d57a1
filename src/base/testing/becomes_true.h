// For tests that wait for what another thread or process does.
#ifndef ATTUNE_BASE_TESTING_BECOMES_TRUE_H_
#define ATTUNE_BASE_TESTING_BECOMES_TRUE_H_

#include <chrono>
#include <thread>

namespace attune::testing {

// Waits until `condition()` holds. False if it does not within two minutes, which is long on any machine: a
// test that waits for ever would say nothing.
template <typename Condition>
bool BecomesTrue(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_BECOMES_TRUE_H_
