#include "library/failure.h"

#include <exception>
#include <new>

#include "base/face.h"

namespace attune::library {
namespace {

attune_code CodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ATTUNE_OK;
    case absl::StatusCode::kNotFound:
      return IsMissingFile(status) ? ATTUNE_CANNOT_READ : ATTUNE_NOT_FOUND;
    case absl::StatusCode::kUnimplemented:
      return ATTUNE_UNSUPPORTED;
    case absl::StatusCode::kCancelled:
      return ATTUNE_CANCELLED;
    case absl::StatusCode::kResourceExhausted:
      return ATTUNE_OUT_OF_MEMORY;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDeadlineExceeded:
      return ATTUNE_UNAVAILABLE;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return ATTUNE_INTERNAL;
    default:
      return ATTUNE_INVALID_ARGUMENT;
  }
}

attune_code Report(const absl::Status& status, attune_failure** failure) {
  const attune_code code = CodeOf(status);
  if (code != ATTUNE_OK && failure != nullptr)
    *failure = new attune_failure{.code = code, .message = std::string(status.message())};
  return code;
}

// Turns exceptions into statuses, but for a lack of memory.
absl::Status StatusOf(absl::FunctionRef<absl::Status()> body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    return InternalError(exception.what());
  } catch (...) {
    return InternalError("an exception of an unknown type");
  }
}

}  // namespace

attune_code Guard(attune_failure** failure, absl::FunctionRef<absl::Status()> body) noexcept {
  if (CurrentFace() == Face::kCommandLine) SetFace(Face::kCpp);
  try {
    return Report(StatusOf(body), failure);
  } catch (const std::bad_alloc&) {
    if (failure != nullptr) *failure = nullptr;
    return ATTUNE_OUT_OF_MEMORY;
  }
}

}  // namespace attune::library

attune_code attune_failure_code(const attune_failure* failure) {
  return failure == nullptr ? ATTUNE_OUT_OF_MEMORY : failure->code;
}

const char* attune_failure_message(const attune_failure* failure) {
  return failure == nullptr ? "out of memory" : failure->message.c_str();
}

void attune_failure_free(attune_failure* failure) { delete failure; }
