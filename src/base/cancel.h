// Asks long-running work to end early.
#ifndef ATTUNE_BASE_CANCEL_H_
#define ATTUNE_BASE_CANCEL_H_

#include <atomic>

namespace attune {

// Cancelled once and for good, by Cancel() or together with its parent, which must outlive it. Work that
// has parts gives each part a child, so that it can cancel one part without the others. Thread safe; a
// query costs one load for this object and one for each of its ancestors.
class Cancellation {
 public:
  explicit Cancellation(const Cancellation* parent = nullptr) : parent_(parent) {}
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  // May also be called from a signal handler.
  void Cancel() { is_cancelled_.store(true, std::memory_order_relaxed); }

  bool is_cancelled() const {
    return is_cancelled_.load(std::memory_order_relaxed) || (parent_ != nullptr && parent_->is_cancelled());
  }

 private:
  // A signal handler may only use lock-free atomics.
  static_assert(std::atomic<bool>::is_always_lock_free);

  const Cancellation* const parent_;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace attune

#endif  // ATTUNE_BASE_CANCEL_H_
