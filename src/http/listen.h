// Listening at an address, for servers.
#ifndef ATTUNE_HTTP_LISTEN_H_
#define ATTUNE_HTTP_LISTEN_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace attune {

// Has the acceptor listen at "host:port", where port 0 is any free one. Returns the same with the port that
// it is.
absl::StatusOr<std::string> ListenAt(const std::string& address, boost::asio::io_context& context,
                                     boost::asio::ip::tcp::acceptor& acceptor);

}  // namespace attune

#endif  // ATTUNE_HTTP_LISTEN_H_
