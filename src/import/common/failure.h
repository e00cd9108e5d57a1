// How an operator's function reports failure: by an exception that never leaves its format's folder.
#ifndef ATTUNE_IMPORT_COMMON_FAILURE_H_
#define ATTUNE_IMPORT_COMMON_FAILURE_H_

#include <algorithm>
#include <span>
#include <utility>

#include "base/status.h"
#include "graph/graph.h"

namespace attune::importing {

// Thrown by the helpers that operators are written with, and caught where the importer calls an operator.
// This keeps an operator's lowering as short as its formula.
//   Unimplemented: valid, but not supported; collected as a line, and the import goes on.
//   Cancelled: the reason has been collected already.
//   Anything else: the model is broken; the import stops.
struct ImportFailure {
  absl::Status status;
};

template <typename... Args>
[[noreturn]] void Unsupported(const Args&... args) {
  throw ImportFailure{NotSupported(args...)};
}

template <typename... Args>
[[noreturn]] void Invalid(const Args&... args) {
  throw ImportFailure{InvalidInput(args...)};
}

inline void OrThrow(absl::Status status) {
  if (!status.ok()) throw ImportFailure{std::move(status)};
}

// The failure of an operator with these inputs, one of which may be null. Where a size depends on data it is
// not known whether operands fit, and so what would make the model a broken one is not supported, with the
// reason.
inline absl::Status AsFailureOf(std::span<Value* const> inputs, absl::Status status) {
  const bool dynamic = std::any_of(inputs.begin(), inputs.end(), [](const Value* input) {
    return input != nullptr && !input->type().is_static();
  });
  if (!dynamic || !absl::IsInvalidArgument(status)) return status;
  return NotSupported("whether its sizes fit depends on data: ", status.message());
}

template <typename T>
T OrThrow(absl::StatusOr<T> value) {
  if (!value.ok()) throw ImportFailure{std::move(value).status()};
  return std::move(value).value();
}

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_FAILURE_H_
