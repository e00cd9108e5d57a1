// The target of a request: its path and its query.
#ifndef ATTUNE_HTTP_TARGET_H_
#define ATTUNE_HTTP_TARGET_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

// The text without %-escapes (RFC 3986); nothing if an escape is none.
std::optional<std::string> DecodePercent(std::string_view text);

struct HttpTarget {
  std::string path = {};  // as it was sent
  // Between the slashes, decoded. A part has slashes itself where they were escaped.
  std::vector<std::string> parts = {};
  std::map<std::string, std::string, std::less<>> query = {};  // decoded, with "+" as a space
};

// Nothing if the target is not a path that begins with "/", or has a name, between two slashes of whatever
// kind, that is empty, ".", ".." or holds a control character once it is decoded. One slash at the end is
// ignored.
std::optional<HttpTarget> ParseTarget(std::string_view target);

}  // namespace attune

#endif  // ATTUNE_HTTP_TARGET_H_
