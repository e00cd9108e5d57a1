// Errors as "problem details" (RFC 9457).
#ifndef ATTUNE_HTTP_PROBLEM_H_
#define ATTUNE_HTTP_PROBLEM_H_

#include <string_view>

#include "absl/status/status.h"
#include "http/message.h"

namespace attune {

inline constexpr char kProblemContentType[] = "application/problem+json";

// `detail` is for people: one sentence that says what is wrong and what to do.
HttpResponse Problem(int status, std::string_view detail);
// The status that fits the error's code, and its message. Our own faults are told without details, which go
// to the log.
HttpResponse Problem(const absl::Status& error);

// "Not Found"
std::string_view HttpReason(int status);

}  // namespace attune

#endif  // ATTUNE_HTTP_PROBLEM_H_
