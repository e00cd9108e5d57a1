// Shorthand around absl::Status, the error type of everything except the runtime.
#ifndef ATTUNE_BASE_STATUS_H_
#define ATTUNE_BASE_STATUS_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace attune {
namespace internal {

// The types of payloads.
inline constexpr char kPassing[] = "attune/passing";
inline constexpr char kMissingFile[] = "attune/missing-file";

}  // namespace internal

// Bad input of any kind (a damaged file, a shape that does not fit): the caller's data is at fault.
template <typename... Args>
absl::Status InvalidInput(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// Begins each line of an error that lists operators and types: "not supported: <operator> <node>: <reason>".
inline constexpr std::string_view kNotSupportedMark = "not supported: ";

// Valid input that Attune does not support.
template <typename... Args>
absl::Status NotSupported(const Args&... args) {
  return absl::UnimplementedError(absl::StrCat(args...));
}

// A file that is not there: NotFound, as other things that are not there.
template <typename... Args>
absl::Status MissingFile(const Args&... args) {
  absl::Status error = absl::NotFoundError(absl::StrCat(args...));
  error.SetPayload(internal::kMissingFile, {});
  return error;
}
inline bool IsMissingFile(const absl::Status& error) {
  return error.GetPayload(internal::kMissingFile).has_value();
}

// A broken invariant of our own.
template <typename... Args>
absl::Status InternalError(const Args&... args) {
  return absl::InternalError(absl::StrCat(args...));
}

// Marks an error whose cause ends by itself within a second or so, such as another call that works on the
// same thing: the same call may succeed then.
inline absl::Status Passing(absl::Status error) {
  error.SetPayload(internal::kPassing, {});
  return error;
}
inline bool IsPassing(const absl::Status& error) { return error.GetPayload(internal::kPassing).has_value(); }

// The same status with "where: " before its message, and with its payloads; ok stays ok.
inline absl::Status Annotate(const absl::Status& status, std::string_view where) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), absl::StrCat(where, ": ", status.message()));
  status.ForEachPayload(
      [&](std::string_view type, const absl::Cord& payload) { annotated.SetPayload(type, payload); });
  return annotated;
}

}  // namespace attune

#define ATTUNE_CONCAT_INNER_(a, b) a##b
#define ATTUNE_CONCAT_(a, b) ATTUNE_CONCAT_INNER_(a, b)

// Returns from the enclosing function when `expr` is not ok.
#define RETURN_IF_ERROR(expr)                        \
  do {                                               \
    absl::Status attune_status_ = (expr);            \
    if (!attune_status_.ok()) return attune_status_; \
  } while (false)

// ASSIGN_OR_RETURN(auto x, F()): the value of a StatusOr, or return its status.
#define ASSIGN_OR_RETURN(lhs, expr) ASSIGN_OR_RETURN_IMPL_(ATTUNE_CONCAT_(attune_or_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                           \
  if (!tmp.ok()) return tmp.status();          \
  lhs = std::move(tmp).value()

#endif  // ATTUNE_BASE_STATUS_H_
