// Calls of HTTP servers, and their answers, as clients see them.
#ifndef ATTUNE_HTTP_CLIENT_CALL_H_
#define ATTUNE_HTTP_CLIENT_CALL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

struct HttpAnswer {
  int status = 0;
  // By lower-case names. Several with one name are joined with commas, as HTTP allows.
  std::map<std::string, std::string, std::less<>> headers = {};
  std::string body = {};

  // Empty if there is none.
  std::string_view Header(std::string_view name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
};

// A body that is read while it is sent.
struct HttpBodySource {
  int64_t bytes = 0;
  // Fills the buffer with the next bytes, at least one, and returns how many.
  std::function<absl::StatusOr<size_t>(std::span<char> buffer)> read = {};
};

struct HttpCall {
  std::string method = "GET";
  std::string target = "/";  // path and query
  std::map<std::string, std::string, std::less<>> headers = {};
  std::string body = {};
  std::optional<HttpBodySource> source = {};  // in the place of `body`
  // Gets the body of an answer of success (2xx) piece by piece as it comes, with the answer's status and
  // headers, instead of answer.body. An error of its own ends the call, which returns it.
  std::function<absl::Status(const HttpAnswer& head, std::string_view piece)> take = {};
  // From the connection to the last byte of the answer; 0: as long as bytes come and go.
  double seconds = 60;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_CALL_H_
