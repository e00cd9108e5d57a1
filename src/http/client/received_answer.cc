#include "http/client/received_answer.h"

#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace attune {
namespace {

constexpr int kMaxInterim = 8;
constexpr int kFirstFinalStatus = 200;

}  // namespace

absl::Status ReceivedAnswer::TakeLine(std::string_view line, CURL* easy) {
  has_begun_ = true;
  // A proxy that wants credentials answers before the server does.
  if (!is_in_head_ && (!has_head_ || line.starts_with("HTTP/"))) {
    is_in_head_ = true;
    has_head_ = false;
    header_bytes_ = 0;
  }
  header_bytes_ += line.size();
  if (header_bytes_ > options_.most_header_bytes)
    return absl::ResourceExhaustedError("the header of its answer is too large");
  const bool is_last = line == "\r\n" || line == "\n";
  if (!is_in_head_ || !is_last) return absl::OkStatus();
  is_in_head_ = false;
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (status >= kFirstFinalStatus) return TakeHead(static_cast<int>(status), easy);
  return ++interim_ < kMaxInterim ? absl::OkStatus()
                                  : absl::FailedPreconditionError("announces answers without an end");
}

absl::Status ReceivedAnswer::TakeHead(int status, CURL* easy) {
  answer_ = {.status = status};
  constexpr int kLastRequest = -1;
  for (curl_header* field = nullptr;
       (field = curl_easy_nextheader(easy, CURLH_HEADER, kLastRequest, field)) != nullptr;) {
    std::string& value = answer_.headers[absl::AsciiStrToLower(field->name)];
    absl::StrAppend(&value, value.empty() ? "" : ", ", field->value);
  }
  long version = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
  if (version != CURL_HTTP_VERSION_1_1 && version != CURL_HTTP_VERSION_1_0)
    return absl::FailedPreconditionError("this is not HTTP/1.1, but another version");
  // Libcurl would take the last of several.
  const std::string_view length = answer_.Header("content-length");
  if (uint64_t bytes = 0; !length.empty() && !absl::SimpleAtoi(length, &bytes))
    return absl::FailedPreconditionError("this is not HTTP/1.1: Content-Length is not a number");
  has_head_ = true;
  return absl::OkStatus();
}

absl::Status ReceivedAnswer::TakeBody(std::string_view piece) {
  if (call_.take && answer_.status / 100 == 2) {
    const absl::Status taken = call_.take(answer_, piece);
    has_caller_failed_ = !taken.ok();
    return taken;
  }
  if (answer_.body.size() + piece.size() > options_.most_body_bytes)
    return absl::ResourceExhaustedError(
        absl::StrCat("its answer has more than ", options_.most_body_bytes, " bytes"));
  answer_.body += piece;
  return absl::OkStatus();
}

}  // namespace attune
