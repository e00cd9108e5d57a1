#include "service/access/problems.h"

#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "http/problem.h"

namespace attune {
namespace {

constexpr char kRetrySeconds[] = "5";  // after which the jobs' store is tried again, too

}  // namespace

HttpResponse UnauthorizedProblem(std::string_view error, std::string_view detail) {
  HttpResponse problem = Problem(401, detail);
  std::string challenge = "Bearer realm=\"attune\"";
  if (!error.empty()) absl::StrAppend(&challenge, ", error=\"", error, "\"");
  problem.headers["WWW-Authenticate"] = challenge;
  return problem;
}

HttpResponse TooManyProblem(double wait_seconds, std::string_view detail) {
  HttpResponse problem = Problem(429, detail);
  problem.headers["Retry-After"] = absl::StrCat(std::ceil(wait_seconds));
  return problem;
}

HttpResponse ServiceProblem(const absl::Status& error) {
  constexpr double kPassingSeconds = 1;
  if (IsPassing(error)) return TooManyProblem(kPassingSeconds, error.message());
  // Clients do not learn which file or database it was.
  const bool lacks_room = absl::IsResourceExhausted(error);
  const bool lacks_database = absl::StrContains(error.message(), "postgresql://");
  if (lacks_room || lacks_database)
    Log(LogLevel::kError, "a request is not answered", "reason", error.message());
  HttpResponse problem = lacks_room       ? Problem(503, "the server's disk is full; try again later")
                         : lacks_database ? Problem(503, "the server's database does not answer; try again")
                                          : Problem(error);
  if (problem.status == 503) problem.headers["Retry-After"] = kRetrySeconds;
  return problem;
}

}  // namespace attune
