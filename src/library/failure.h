// The border of the C interface: checks arguments, turns statuses into codes and failures, and lets no
// exception out.
#ifndef ATTUNE_LIBRARY_FAILURE_H_
#define ATTUNE_LIBRARY_FAILURE_H_

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "attune/tensor.h"
#include "base/status.h"

struct attune_failure {
  attune_code code;
  std::string message;
};

namespace attune::library {

// Fails if one of the pointers is null.
template <typename... Pointers>
absl::Status CheckNotNull(const Pointers*... pointers) {
  if ((... && (pointers != nullptr))) return absl::OkStatus();
  return InvalidInput("an argument that must not be NULL is NULL");
}

// Copies a struct that begins with struct_bytes, as `init` sets it. Members that the caller does not know are
// 0; so are all, if it is null.
template <typename Struct>
absl::StatusOr<Struct> CopyKnown(const Struct* given, std::string_view init) {
  Struct copy = {};
  if (given == nullptr) return copy;
  if (given->struct_bytes < sizeof(given->struct_bytes))
    return InvalidInput("struct_bytes is not set; start from ", init);
  std::memcpy(&copy, given, std::min(given->struct_bytes, sizeof(copy)));
  return copy;
}

// A text that may be left out as null.
inline std::string TextOr(const char* text) { return text == nullptr ? "" : text; }

// Runs the body of a function of the C interface. Returns the code of its status or exception, and fills the
// failure, unless that is null. Makes messages name options as programs in C do, unless the process has
// another face.
attune_code Guard(attune_failure** failure, absl::FunctionRef<absl::Status()> body) noexcept;

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_FAILURE_H_
