// Which processors something runs on.
#ifndef ATTUNE_DEVICE_AFFINITY_H_
#define ATTUNE_DEVICE_AFFINITY_H_

#include <sched.h>

#include <span>

namespace attune {

// While it lives, this thread and those that it starts run on `processors` alone, by their numbers. Two
// kernels that are compared on two processors would be told apart by these. Nothing where there are none, or
// the system does not allow it.
class PinnedTo {
 public:
  explicit PinnedTo(std::span<const int> processors) {
    if (processors.empty() || sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    for (const int processor : processors) {
      if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(static_cast<size_t>(processor), &chosen);
    }
    is_changed_ = sched_setaffinity(0, sizeof(chosen), &chosen) == 0;
  }
  ~PinnedTo() {
    if (is_changed_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  PinnedTo(const PinnedTo&) = delete;
  PinnedTo& operator=(const PinnedTo&) = delete;

 private:
  cpu_set_t before_;
  bool is_changed_ = false;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_AFFINITY_H_
