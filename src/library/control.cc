#include "library/control.h"

#include <new>
#include <string>

#include "library/failure.h"

namespace attune::library {

absl::StatusOr<attune_control> ToOwn(const attune_control* control) {
  return CopyKnown(control, "ATTUNE_CONTROL_INIT");
}

std::stop_token TokenOf(const attune_control& control) {
  return control.stop == nullptr ? std::stop_token() : control.stop->source.get_token();
}

void Following::Report(std::string_view what, int64_t done, int64_t total) {
  if (control_.progress != nullptr)
    control_.progress(control_.context, std::string(what).c_str(), done, total);
}

}  // namespace attune::library

attune_stop* attune_stop_create() {
  try {
    return new attune_stop();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void attune_stop_request(attune_stop* stop) {
  if (stop != nullptr) stop->source.request_stop();
}

void attune_stop_free(attune_stop* stop) { delete stop; }
