// An asynchronous server for HTTP/1.1, with limits for everything that a peer decides.
#ifndef ATTUNE_HTTP_SERVER_H_
#define ATTUNE_HTTP_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "http/connection_counts.h"
#include "http/router.h"

namespace attune {

struct HttpTls {
  std::string chain_pem = {}, key_pem = {};
};

struct HttpServerOptions {
  std::string address = {};         // "host:port"; port 0: any free one
  std::optional<HttpTls> tls = {};  // none: nothing is encrypted
  ConnectionLimits limits = {};
  int threads = 4;  // that answer: this many requests are answered at once, and others wait
  size_t most_header_bytes = 16 << 10;
  // The most bytes of all bodies that are being read or answered; the server refuses one more (503). Bodies
  // of up to 4 KiB do not count.
  size_t most_bodies_bytes = size_t{256} << 20;
  // From the connection to the end of TLS's handshake, and from then to the end of the first header.
  double greeting_seconds = 10;
  // From the end of an answer to that of the next header, from a header to the end of its body, and for
  // writing the answer.
  double seconds_limit = 30;
  // A stream of events that is silent for this long gets a comment, by which both ends see that it lives.
  double heartbeat_seconds = 15;
};

// Serves until it is destroyed: then no connection is accepted any more, streams of events end, and requests
// that are being answered get their answers, for as long as one write may take. One thread reads and writes;
// handlers run in threads of their own.
class HttpServer {
 public:
  // Fails if the address is none or is taken, or if the certificate is none.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options,
                                                           HttpRouter router);
  ~HttpServer();

  // "host:port" where it listens, with the port that it has got.
  const std::string& address() const;
  // How many connections are open.
  int64_t connections() const;
  // How many were closed since the server has begun, because their address had too many or the server had.
  int64_t refused_connections() const;

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_SERVER_H_
