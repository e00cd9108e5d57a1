// Callbacks and stops of C++ as the C interface takes them. For the headers of this folder alone.
#ifndef ATTUNE_DETAIL_CONTROL_HPP_
#define ATTUNE_DETAIL_CONTROL_HPP_

#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <stop_token>
#include <string_view>

#include "attune/compiler.hpp"
#include "attune/detail/call.hpp"

namespace attune::compiler::detail {

// Follows and stops one call of the C interface, with the caller's callbacks, which must outlive it. No
// exception of theirs crosses the library: the first one stops the call, and is thrown when the call has
// ended.
class Following {
 public:
  explicit Following(const Control& control) : Following(control.stop) {
    if (!control.progress) return;
    progress_ = &control.progress;
    control_.progress = [](void* self, const char* what, int64_t done, int64_t total) {
      guard(self, [&](Following& own) { (*own.progress_)(what, done, total); });
    };
  }
  explicit Following(const TuneOptions& options) : Following(options.stop) {
    if (!options.progress) return;
    tuning_progress_ = &options.progress;
    control_.tuning_progress = [](void* self, const attune_tuning_progress* progress) {
      guard(self, [&](Following& own) {
        (*own.tuning_progress_)({.stage = progress->stage,
                                 .trials = progress->trials,
                                 .elapsed_seconds = progress->elapsed_seconds,
                                 .seconds_left = progress->seconds_left,
                                 .baseline_kernel_seconds = progress->baseline_kernel_seconds,
                                 .best_kernel_seconds = progress->best_kernel_seconds});
      });
    };
  }
  explicit Following(const PictureOptions& options) : Following(std::stop_token()) {
    if (!options.note) return;
    note_ = &options.note;
    control_.note = [](void* self, const char* text) {
      guard(self, [&](Following& own) { (*own.note_)(text); });
    };
  }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

  // As get() of call.hpp, for functions that take a control after `arguments`.
  template <auto kFree, typename Function, typename... Arguments>
  Owned<kFree> get(Function function, Arguments... arguments) {
    try {
      Owned<kFree> result = detail::get<kFree>(function, arguments..., &control_);
      rethrow();
      return result;
    } catch (...) {
      rethrow();
      throw;
    }
  }

 private:
  explicit Following(const std::stop_token& token)
      : stop_(attune_stop_create()), on_stop_(token, [this] { attune_stop_request(stop_.get()); }) {
    if (stop_ == nullptr) throw std::bad_alloc();
    control_.context = this;
    control_.stop = stop_.get();
  }

  template <typename Call>
  static void guard(void* self, const Call& call) noexcept {
    auto& own = *static_cast<Following*>(self);
    try {
      call(own);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(own.mutex_);
      if (!own.thrown_) own.thrown_ = std::current_exception();
      attune_stop_request(own.stop_.get());
    }
  }

  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

  const std::function<void(std::string_view, int64_t, int64_t)>* progress_ = nullptr;
  const std::function<void(const TuningProgress&)>* tuning_progress_ = nullptr;
  const std::function<void(std::string_view)>* note_ = nullptr;
  attune_control control_ = ATTUNE_CONTROL_INIT;
  std::mutex mutex_;
  std::exception_ptr thrown_;
  Owned<attune_stop_free> stop_;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace attune::compiler::detail

#endif  // ATTUNE_DETAIL_CONTROL_HPP_
