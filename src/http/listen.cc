#include "http/listen.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

absl::StatusOr<tcp::endpoint> Resolve(asio::io_context& context, const std::string& address) {
  const size_t colon = address.rfind(':');
  const auto refuse = [&](std::string_view why) {
    return InvalidInput("\"", address, "\" is not an address and port such as 127.0.0.1:9192 (", why, ")");
  };
  if (colon == std::string::npos) return refuse("it has no port");
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  error_code error;
  const auto found = tcp::resolver(context).resolve(host, address.substr(colon + 1), error);
  if (error || found.empty()) return refuse(error.message());
  return found.begin()->endpoint();
}

}  // namespace

absl::StatusOr<std::string> ListenAt(const std::string& address, asio::io_context& context,
                                     tcp::acceptor& acceptor) {
  ASSIGN_OR_RETURN(const tcp::endpoint endpoint, Resolve(context, address));
  try {
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(tcp::acceptor::max_listen_connections);
  } catch (const boost::system::system_error& error) {
    return absl::UnavailableError(
        absl::StrCat(address, ": cannot listen there (", error.code().message(), ")"));
  }
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", acceptor.local_endpoint().port());
}

}  // namespace attune
