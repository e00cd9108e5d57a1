// The trace that a request belongs to: https://www.w3.org/TR/trace-context/
#ifndef ATTUNE_SERVICE_REST_REQUEST_TRACE_H_
#define ATTUNE_SERVICE_REST_REQUEST_TRACE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace attune {

struct RequestTrace {
  std::string trace = {};  // 32 hexadecimal digits
  std::string span = {};   // 16, of the request's answer

  // The value of the header traceparent, by which others continue the trace.
  std::string Parent() const;
};

// Continues the trace of a traceparent; an invalid or empty one begins a new trace.
absl::StatusOr<RequestTrace> TraceOf(std::string_view traceparent);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_REQUEST_TRACE_H_
