// Passes connections on to another server, as they are.
//
// Problem: a server that follows another one should answer all that it does, streams and uploads too, without
// knowing what it is. Idea: it passes the bytes of each connection on, in both directions; so TLS ends at the
// other server, and nothing here can be out of step with it. Price: the other server sees this one's address.
#ifndef ATTUNE_HTTP_FORWARDER_H_
#define ATTUNE_HTTP_FORWARDER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "http/connection_counts.h"

namespace attune {

struct ForwarderOptions {
  std::string address = {};  // as in HttpServerOptions
  // "host:port" of the server that answers now; empty: there is none. Called by a thread of its own.
  std::function<std::string()> target = {};
  // There is no TLS: who cannot be passed on is answered with status 503.
  bool is_plain = true;
  ConnectionLimits limits = {};
};

// Forwards until it is destroyed, which ends all its connections.
class Forwarder {
 public:
  // Fails if the address is none, or is taken.
  static absl::StatusOr<std::unique_ptr<Forwarder>> Start(const ForwarderOptions& options);
  ~Forwarder();

  // "host:port".
  const std::string& address() const;

 private:
  struct Parts;
  explicit Forwarder(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_FORWARDER_H_
