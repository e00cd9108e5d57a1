#include "http/problem.h"

#include <boost/beast/http/status.hpp>
#include <nlohmann/json.hpp>

#include "base/log.h"

namespace attune {
namespace {

int StatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kDataLoss:
      return 422;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
      return 503;
    default:
      return 500;
  }
}

}  // namespace

std::string_view HttpReason(int status) {
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  return {reason.data(), reason.size()};
}

HttpResponse Problem(int status, std::string_view detail) {
  const nlohmann::ordered_json problem = {
      {"type", "about:blank"}, {"title", HttpReason(status)}, {"status", status}, {"detail", detail}};
  // Names that people have given may be no UTF-8.
  return {.status = status,
          .body = problem.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n",
          .content_type = kProblemContentType};
}

HttpResponse Problem(const absl::Status& error) {
  const int status = StatusOf(error.code());
  if (status != 500) return Problem(status, error.message());
  Log(LogLevel::kError, "a request has failed", "reason", error.ToString());
  return Problem(status, "the server has failed; its log says why");
}

}  // namespace attune
