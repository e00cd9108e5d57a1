// The means by which a caller follows and stops a call.
#ifndef ATTUNE_LIBRARY_CONTROL_H_
#define ATTUNE_LIBRARY_CONTROL_H_

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string_view>

#include "absl/status/statusor.h"
#include "attune/tensor.h"
#include "base/cancel.h"
#include "base/progress.h"

struct attune_stop {
  std::stop_source source;
};

namespace attune::library {

// The caller's control, which may be null, with members that the caller does not know as null. Fails if
// struct_bytes is not set.
absl::StatusOr<attune_control> ToOwn(const attune_control* control);

// A control without a stop has a token that is never stopped.
std::stop_token TokenOf(const attune_control& control);

// Follows and ends a call as the caller's control wants it, for as long as it lives.
class Following : public ProgressSink {
 public:
  explicit Following(const attune_control& control)
      : control_(control), on_stop_(TokenOf(control), [this] { cancellation_.Cancel(); }) {}

  WorkControl work() { return {.cancellation = &cancellation_, .progress = this}; }
  void Report(std::string_view what, int64_t done, int64_t total) override;

 private:
  const attune_control control_;
  Cancellation cancellation_;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_CONTROL_H_
