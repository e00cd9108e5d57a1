// Problems that every operation of the service may answer.
#ifndef ATTUNE_SERVICE_ACCESS_PROBLEMS_H_
#define ATTUNE_SERVICE_ACCESS_PROBLEMS_H_

#include <string_view>

#include "absl/status/status.h"
#include "http/message.h"

namespace attune {

// The caller is not known. `error`: its name in the standard (RFC 6750); empty: no token came.
HttpResponse UnauthorizedProblem(std::string_view error, std::string_view detail);
// 429 with Retry-After.
HttpResponse TooManyProblem(double wait_seconds, std::string_view detail);
// The problem that fits the error; with Retry-After where that helps.
HttpResponse ServiceProblem(const absl::Status& error);

}  // namespace attune

#endif  // ATTUNE_SERVICE_ACCESS_PROBLEMS_H_
