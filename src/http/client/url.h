// Addresses of HTTP servers and of what they have.
#ifndef ATTUNE_HTTP_CLIENT_URL_H_
#define ATTUNE_HTTP_CLIENT_URL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace attune {

struct HttpUrl {
  bool is_encrypted = false;  // https
  std::string host = {};      // a name or an address, without brackets
  uint16_t port = 0;
  std::string target = "/";  // path and query, as they are sent

  // Fails, with the text, unless it is an absolute URL of http or https, without a user's name and a
  // fragment, in ASCII without spaces.
  static absl::StatusOr<HttpUrl> Parse(std::string_view text);

  // Whether the host is "localhost" or a loopback address.
  bool IsLoopback() const;
  // "host:port", with brackets around an IPv6 address.
  std::string Authority() const;
  // "https://host:port". The port is left out where it is the scheme's own.
  std::string Origin() const;
};

// The text as one part of a path or as a value of a query: what is not a letter, a digit or one of "-._~" is
// escaped (RFC 3986).
std::string EncodePercent(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_URL_H_
