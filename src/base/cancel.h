// A wish that long work ends early.
#ifndef ATTUNE_BASE_CANCEL_H_
#define ATTUNE_BASE_CANCEL_H_

#include <atomic>

namespace attune {

// Is cancelled once, for good: by Cancel(), or with its parent, which outlives it. Work that has parts gives
// each of them a child, and so can cancel one without the others. Thread safe; asking costs a load for it and
// for each of its ancestors.
class Cancellation {
 public:
  explicit Cancellation(const Cancellation* parent = nullptr) : parent_(parent) {}
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  // Also from a signal handler.
  void Cancel() { is_cancelled_.store(true, std::memory_order_relaxed); }

  bool is_cancelled() const {
    return is_cancelled_.load(std::memory_order_relaxed) || (parent_ != nullptr && parent_->is_cancelled());
  }

 private:
  // Signal handlers may use those alone.
  static_assert(std::atomic<bool>::is_always_lock_free);

  const Cancellation* const parent_;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace attune

#endif  // ATTUNE_BASE_CANCEL_H_
