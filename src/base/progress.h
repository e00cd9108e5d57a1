// What a long call is asked and tells while it works.
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
  // Of what is done now, "compiling kernels", `done` units of `total` are done; a total of 0 is not known.
  // Often called, and by several threads at once.
  virtual void Report(std::string_view what, int64_t done, int64_t total) = 0;
};

// How a caller follows and ends a long call: both outlive the call, and either may be missing.
struct WorkControl {
  const Cancellation* cancellation = nullptr;
  ProgressSink* progress = nullptr;

  bool is_cancelled() const { return cancellation != nullptr && cancellation->is_cancelled(); }

  // To be called between any two units of work. Cancelled, "compiling kernels was cancelled", where the work
  // is to end.
  absl::Status Continue(std::string_view what, int64_t done = 0, int64_t total = 0) const {
    if (is_cancelled()) return absl::CancelledError(absl::StrCat(what, " was cancelled"));
    if (progress != nullptr) progress->Report(what, done, total);
    return absl::OkStatus();
  }
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROGRESS_H_
