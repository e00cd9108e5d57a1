// Keeps a thread on the processors that a lease grants.
#ifndef ATTUNE_DEVICE_PIN_H_
#define ATTUNE_DEVICE_PIN_H_

#include <span>

#include "base/processor_set.h"

namespace attune {

// While it lives, this thread and the threads that it starts run only on these processors; afterwards this
// thread runs where it did before. Has no effect if the system does not allow it, or if none of the
// processors exists. Must be destroyed by the thread that made it.
class PinnedTo {
 public:
  explicit PinnedTo(std::span<const int> processors)
      : before_(ProcessorSet::OfThisThread()), is_pinned_(ProcessorSet(processors).GiveToThisThread()) {}
  ~PinnedTo() {
    if (is_pinned_) before_.GiveToThisThread();
  }
  PinnedTo(const PinnedTo&) = delete;
  PinnedTo& operator=(const PinnedTo&) = delete;

  bool is_pinned() const { return is_pinned_; }

 private:
  ProcessorSet before_;
  bool is_pinned_;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_PIN_H_
