// Starts threads and handles refusal: the number of threads of a process is limited, and each needs memory
// for its stack.
#ifndef ATTUNE_BASE_THREADS_H_
#define ATTUNE_BASE_THREADS_H_

#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace attune {

// Runs `f` in `thread`, which must not be running yet. Returns false if the system has no thread to give.
template <typename F>
[[nodiscard]] bool StartThread(std::thread& thread, F&& f) {
  try {
    thread = std::thread(std::forward<F>(f));
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// A group of threads; the destructor waits for them to end.
class ThreadGroup {
 public:
  // Starts up to `count` threads that each run `f`, and returns how many started: fewer if the system has
  // no more.
  template <typename F>
  int Start(int count, const F& f) {
    threads_.reserve(threads_.size() + static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      std::thread thread;
      if (!StartThread(thread, f)) return i;
      threads_.push_back(std::move(thread));
    }
    return count;
  }

  ThreadGroup() = default;
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  ~ThreadGroup() { Join(); }

  // Waits for all threads.
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_THREADS_H_
