// The connections of an HttpServer; only for its sources.
#ifndef ATTUNE_HTTP_CONNECTION_H_
#define ATTUNE_HTTP_CONNECTION_H_

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "http/connection_counts.h"
#include "http/router.h"
#include "http/server.h"

namespace attune {

// For the server's thread alone, as all here.
class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  // Ends as soon as the answer that is under way is written.
  virtual void End() = 0;
  // Ends now, to make room for another connection.
  virtual void GiveWay() = 0;
  // Since when it waits for what its peer has to send; nothing while an answer is under way.
  virtual std::optional<std::chrono::steady_clock::time_point> WaitsSince() const = 0;
  // By which its peer is counted.
  virtual const std::string& source() const = 0;
};

// Shared by the connections of a server, and outlives them.
struct HttpService {
  HttpServerOptions options;
  HttpRouter router;
  boost::asio::thread_pool* pool = nullptr;         // where requests are answered
  boost::asio::ssl::context* encryption = nullptr;  // null: nothing is encrypted
  std::set<HttpConnection*> connections = {};
  std::atomic<int64_t> num_connections = 0;  // the same, for any thread
  ConnectionCounts counts = ConnectionCounts(options.limits.of_address);
  std::atomic<int64_t> num_refused = 0;
  size_t bodies_bytes = 0;  // of bodies that are being read or answered
  bool is_ending = false;
};

// Serves the peer of the socket until either end has enough. Closes it at once if there is no room for it.
void BeginConnection(boost::asio::ip::tcp::socket socket, HttpService& service);

}  // namespace attune

#endif  // ATTUNE_HTTP_CONNECTION_H_
