// A small HTTP server for what programs that watch over others ask: metrics and health.
#ifndef ATTUNE_FLEET_SERVER_HTTP_SERVER_H_
#define ATTUNE_FLEET_SERVER_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace attune {

struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::string content_type = "text/plain; charset=utf-8";
};

struct HttpServerOptions {
  std::string address = {};  // "host:port"; port 0: any free one
  // A connection beyond those is closed at once.
  int most_connections = 32;
  // From the connection to the whole request, and from there to the end of the answer.
  double seconds_limit = 10;
};

// Answers GET alone, and one request for each connection. Serves by one thread of its own until it is
// destroyed. Nothing is encrypted, and everyone who reaches the address may ask.
class HttpServer {
 public:
  // The functions that answer paths such as "/metrics". The server's thread calls them.
  using Routes = std::map<std::string, std::function<HttpAnswer()>, std::less<>>;

  // Fails if the address is none or is taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options, Routes routes);
  ~HttpServer();

  // "host:port" where it listens, with the port that it has got.
  const std::string& address() const;

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_HTTP_SERVER_H_
