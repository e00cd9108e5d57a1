#include "fleet/server/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr uint32_t kMostHeaderBytes = 8 << 10;
// Accepting fails while the process has no descriptor left; it is tried again after this pause.
constexpr std::chrono::milliseconds kAcceptPause(200);

struct Service {
  HttpServerOptions options;
  HttpServer::Routes routes;
  int connections = 0;
};

HttpAnswer AnswerTo(const http::request<http::empty_body>& request, const HttpServer::Routes& routes) {
  if (request.method() != http::verb::get) return {.status = 405, .body = "GET alone is answered\n"};
  const std::string_view target(request.target().data(), request.target().size());
  const auto route = routes.find(target.substr(0, target.find('?')));
  if (route == routes.end()) return {.status = 404, .body = "there is nothing\n"};
  return route->second();
}

// One request, whose body is not read, and its answer. Lives as long as an operation of its own is under way.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Service& service) : stream_(std::move(socket)), service_(service) {
    ++service_.connections;
    parser_.header_limit(kMostHeaderBytes);
  }
  ~Connection() { --service_.connections; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Begin() {
    LimitTime();
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](error_code error, size_t) { self->Answer(error); });
  }

 private:
  // Limits all that comes until the next call together, so that a slow peer cannot gain time byte by byte.
  void LimitTime() {
    stream_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(service_.options.seconds_limit)));
  }

  void Answer(error_code error) {
    if (error == http::error::header_limit)
      return Write({.status = 431, .body = "the header is too large\n"});
    // The peer is gone, is too slow, or does not speak HTTP.
    if (error) return;
    Write(AnswerTo(parser_.get(), service_.routes));
  }

  void Write(HttpAnswer answer) {
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(http::field::content_type, answer.content_type);
    if (answer.status == 405) response_.set(http::field::allow, "GET");
    response_.keep_alive(false);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    LimitTime();
    http::async_write(stream_, response_, [self = shared_from_this()](error_code, size_t) {
      error_code ignored;  // the peer is gone already
      ignored = self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  Service& service_;
  beast::flat_buffer buffer_{kMostHeaderBytes};
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
};

absl::StatusOr<tcp::endpoint> Resolve(asio::io_context& context, const std::string& address) {
  const size_t colon = address.rfind(':');
  const auto refuse = [&](std::string_view why) {
    return InvalidInput("\"", address, "\" is no address and port such as 127.0.0.1:9192 (", why, ")");
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

struct HttpServer::Parts {
  Service service;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::string address;
  std::thread thread;

  ~Parts() {
    context.stop();
    if (thread.joinable()) thread.join();
  }

  absl::Status Listen() {
    ASSIGN_OR_RETURN(const tcp::endpoint endpoint, Resolve(context, service.options.address));
    try {
      acceptor.open(endpoint.protocol());
      acceptor.set_option(tcp::acceptor::reuse_address(true));
      acceptor.bind(endpoint);
      acceptor.listen(tcp::acceptor::max_listen_connections);
    } catch (const boost::system::system_error& error) {
      return absl::UnavailableError(
          absl::StrCat(service.options.address, ": cannot listen there (", error.code().message(), ")"));
    }
    const std::string& asked = service.options.address;
    address = absl::StrCat(asked.substr(0, asked.rfind(':')), ":", acceptor.local_endpoint().port());
    return absl::OkStatus();
  }

  void Accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error) return AcceptLater(error);
      // A socket beyond the limit is closed here.
      if (service.connections < service.options.most_connections)
        std::make_shared<Connection>(std::move(socket), service)->Begin();
      Accept();
    });
  }

  void AcceptLater(error_code error) {
    Log(LogLevel::kWarning, "a connection is not accepted", "address", address, "reason", error.message());
    pause.expires_after(kAcceptPause);
    pause.async_wait([this](error_code) { Accept(); });
  }
};

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return parts_->address; }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options,
                                                              Routes routes) {
  auto parts = std::make_unique<Parts>();
  parts->service = {.options = options, .routes = std::move(routes)};
  RETURN_IF_ERROR(parts->Listen());
  parts->Accept();
  if (!StartThread(parts->thread, [&running = *parts] { running.context.run(); }))
    return absl::ResourceExhaustedError("the system has no more threads");
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

}  // namespace attune
