// How a long call reports its progress and is cancelled.
#ifndef ATTUNE_BASE_PROGRESS_H_
#define ATTUNE_BASE_PROGRESS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/cancel.h"

namespace attune {

class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // `done` of `total` units of `what` ("compiling kernels") are done; a total of 0 means that it is not
  // known. Called often, and by several threads at once.
  virtual void Report(std::string_view what, int64_t done, int64_t total) = 0;
};

// How a caller follows and cancels a long call: both objects must outlive the call, and either may be null.
struct WorkControl {
  const Cancellation* cancellation = nullptr;
  ProgressSink* progress = nullptr;

  bool is_cancelled() const { return cancellation != nullptr && cancellation->is_cancelled(); }

  // To be called between any two units of work. Returns Cancelled, "compiling kernels was cancelled", if
  // the work should end.
  absl::Status Continue(std::string_view what, int64_t done = 0, int64_t total = 0) const {
    if (is_cancelled()) return absl::CancelledError(absl::StrCat(what, " was cancelled"));
    if (progress != nullptr) progress->Report(what, done, total);
    return absl::OkStatus();
  }
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROGRESS_H_
