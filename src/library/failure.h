// The border of the C interface: checks arguments, turns statuses into codes and failures, and lets no
// exception out.
#ifndef ATTUNE_LIBRARY_FAILURE_H_
#define ATTUNE_LIBRARY_FAILURE_H_

#include <exception>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "attune/tensor.h"
#include "base/status.h"

struct attune_failure {
  attune_code code;
  std::string message;
};

namespace attune::library {

// Makes messages name options as programs in C do, unless the process has another face.
void NameFace();

// Fails if one of the pointers is null.
template <typename... Pointers>
absl::Status CheckNotNull(const Pointers*... pointers) {
  if ((... && (pointers != nullptr))) return absl::OkStatus();
  return InvalidInput("an argument that must not be NULL is NULL");
}

// A text that may be left out as null.
inline std::string TextOr(const char* text) { return text == nullptr ? "" : text; }

// Fills the failure, unless that is null.
attune_code Report(const absl::Status& status, attune_failure** failure);
attune_code ReportOutOfMemory(attune_failure** failure);

// Runs the body of a function of the C interface, which returns a Status, and reports the result.
template <typename Body>
attune_code Guard(attune_failure** failure, const Body& body) noexcept {
  try {
    NameFace();
    try {
      return Report(body(), failure);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& exception) {
      return Report(InternalError(exception.what()), failure);
    } catch (...) {
      return Report(InternalError("an exception of an unknown type"), failure);
    }
  } catch (...) {
    return ReportOutOfMemory(failure);
  }
}

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_FAILURE_H_
