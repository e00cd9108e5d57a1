// Which processors measurements run on.
#ifndef ATTUNE_DEVICE_AFFINITY_H_
#define ATTUNE_DEVICE_AFFINITY_H_

#include <sched.h>

namespace attune {

// While it lives, this thread and those that it starts run on `threads` processors alone, always the same of
// those that they may use, the last ones, since the first ones tend to serve interrupts. Two kernels that are
// compared on two processors would be told apart by these. Nothing where the system does not allow it.
class OnSameProcessors {
 public:
  explicit OnSameProcessors(int threads) {
    if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&chosen) < threads; --cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &chosen);
    }
    is_changed_ = sched_setaffinity(0, sizeof(chosen), &chosen) == 0;
  }
  ~OnSameProcessors() {
    if (is_changed_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  OnSameProcessors(const OnSameProcessors&) = delete;
  OnSameProcessors& operator=(const OnSameProcessors&) = delete;

 private:
  cpu_set_t before_;
  bool is_changed_ = false;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_AFFINITY_H_
