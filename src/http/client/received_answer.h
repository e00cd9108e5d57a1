// Collects an answer as it comes, within a client's limits. Only for the sources of this folder.
#ifndef ATTUNE_HTTP_CLIENT_RECEIVED_ANSWER_H_
#define ATTUNE_HTTP_CLIENT_RECEIVED_ANSWER_H_

#include <curl/curl.h>

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "http/client/call.h"
#include "http/client/client.h"

namespace attune {

class ReceivedAnswer {
 public:
  // Both arguments must outlive it.
  ReceivedAnswer(const HttpCall& call, const HttpClientOptions& options) : call_(call), options_(options) {}

  // Takes the next line of a head, or of the trailers behind a chunked body. `easy` has parsed it already.
  absl::Status TakeLine(std::string_view line, CURL* easy);
  // Takes the next piece of the body.
  absl::Status TakeBody(std::string_view piece);

  // Whether anything has come.
  bool has_begun() const { return has_begun_; }
  // Whether the head is complete; one like 100 Continue, which another follows, does not count.
  bool has_head() const { return has_head_; }
  // Whether the last error came from the call's `take`.
  bool has_caller_failed() const { return has_caller_failed_; }
  HttpAnswer& answer() { return answer_; }

 private:
  absl::Status TakeHead(int status, CURL* easy);

  const HttpCall& call_;
  const HttpClientOptions& options_;
  HttpAnswer answer_;
  size_t header_bytes_ = 0;
  int interim_ = 0;  // answers before the one that counts
  bool has_begun_ = false, is_in_head_ = false, has_head_ = false, has_caller_failed_ = false;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_RECEIVED_ANSWER_H_
