// Requests and responses of HTTP, as those who answer see them.
#ifndef ATTUNE_HTTP_MESSAGE_H_
#define ATTUNE_HTTP_MESSAGE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "http/event_stream.h"

namespace attune {

struct HttpRequest {
  std::string method = {};  // "GET"
  std::string path = {};    // "/v1/jobs/7", as it was sent, without the query
  // Decoded. The later one of two with one name counts.
  std::map<std::string, std::string, std::less<>> query = {};
  // By lower-case names. Several with one name are joined with commas, as HTTP allows.
  std::map<std::string, std::string, std::less<>> headers = {};
  // The decoded parts of the path, by their names in the route's template.
  std::map<std::string, std::string, std::less<>> parts = {};
  std::string body = {};
  std::string peer = {};  // the address that the connection comes from, without the port

  // Empty if there is none.
  std::string_view Header(std::string_view name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
};

// A file that is open, or a part of it.
struct HttpFile {
  std::shared_ptr<const FileDescriptor> file = nullptr;
  int64_t bytes = 0;
  int64_t offset = 0;  // of the first byte
  // The digest of the whole file; empty: not known. A file that is sent whole is checked, and cut off before
  // its last bytes if its digest differs.
  std::string sha256 = {};
};

struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "text/plain; charset=utf-8";
  std::map<std::string, std::string, std::less<>> headers = {};  // others
  std::optional<HttpFile> file = {};  // in the place of the body; read as it is written
  // Server-sent events, in the place of the body; null: none. The response ends when the stream is closed or
  // the peer is gone.
  std::shared_ptr<EventStream> events = nullptr;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_MESSAGE_H_
