// Who uses the cores of a machine: nothing builds or computes there while something is measured.
#ifndef ATTUNE_DEVICE_MACHINE_USE_H_
#define ATTUNE_DEVICE_MACHINE_USE_H_

#include <condition_variable>
#include <mutex>

namespace attune {

// Any number compute at the same time, or one measures. Whoever waits to measure goes before those who come
// later to compute, so that a builder that is never idle cannot keep a measurement waiting for ever. Thread
// safe. Not recursive: who computes must not begin to measure.
class MachineUse {
 public:
  // As lock_shared() and lock() of a std::shared_mutex, for std::shared_lock and std::unique_lock.
  void lock_shared() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !measuring_ && waiting_ == 0; });
    ++computing_;
  }
  void unlock_shared() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--computing_ == 0) changed_.notify_all();
  }
  void lock() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return !measuring_ && computing_ == 0; });
    --waiting_;
    measuring_ = true;
  }
  void unlock() {
    const std::lock_guard<std::mutex> lock(mutex_);
    measuring_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int computing_ = 0;
  int waiting_ = 0;  // to measure
  bool measuring_ = false;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_MACHINE_USE_H_
