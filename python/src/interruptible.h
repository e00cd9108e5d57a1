// Long calls that Ctrl-C ends and that report to Python.
#ifndef ATTUNE_PYTHON_INTERRUPTIBLE_H_
#define ATTUNE_PYTHON_INTERRUPTIBLE_H_

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace attune::python {

// The latest report of work in another thread, for the thread that shows it. Thread safe.
template <typename Report>
class Latest {
 public:
  void Set(Report report) {
    const std::lock_guard<std::mutex> lock(mutex_);
    report_ = std::move(report);
  }
  std::optional<Report> Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(report_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<Report> report_;
};

// Runs `work(stop)` in a thread of its own, and meanwhile lets other threads of Python run, calls `show` some
// ten times a second, and looks for signals: Ctrl-C requests a stop. Throws what `work` throws, and
// KeyboardInterrupt once it has ended after a Ctrl-C. To be called with the GIL held.
template <typename Work>
auto RunInterruptibly(const Work& work, const std::function<void()>& show) {
  using Result = std::invoke_result_t<Work, std::stop_token>;
  std::optional<Result> result;
  std::exception_ptr error;
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  std::thread thread([&] {
    try {
      result.emplace(work(stop.get_token()));
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex);
    is_over = true;
    changed.notify_all();
  });
  std::exception_ptr shown;
  bool is_interrupted = false;
  for (bool ended = false; !ended;) {
    {
      const nanobind::gil_scoped_release released;
      std::unique_lock<std::mutex> lock(mutex);
      ended = changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return is_over; });
    }
    try {
      if (!is_interrupted && PyErr_CheckSignals() != 0) throw nanobind::python_error();
      if (!is_interrupted) show();
    } catch (...) {
      // The work must end before what it uses goes.
      is_interrupted = true;
      shown = std::current_exception();
      stop.request_stop();
    }
  }
  thread.join();
  if (shown) std::rethrow_exception(shown);
  if (error) std::rethrow_exception(error);
  return *std::move(result);
}

}  // namespace attune::python

#endif  // ATTUNE_PYTHON_INTERRUPTIBLE_H_
