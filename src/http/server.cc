#include "http/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"
#include "http/connection.h"
#include "http/listen.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Accepting fails while the process has no descriptor left; it is tried again after this pause.
constexpr std::chrono::milliseconds kAcceptPause(200);
// For answers that are written when the server ends.
constexpr std::chrono::seconds kEndSeconds(2);

absl::Status UseCertificate(const HttpTls& tls, asio::ssl::context& context) {
  try {
    context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                        asio::ssl::context::no_tlsv1_1);
    context.use_certificate_chain(asio::buffer(tls.chain_pem));
    context.use_private_key(asio::buffer(tls.key_pem), asio::ssl::context::pem);
  } catch (const boost::system::system_error& error) {
    return InvalidInput("the certificate cannot be used: ", error.code().message());
  }
  return absl::OkStatus();
}

}  // namespace

struct HttpServer::Parts {
  explicit Parts(const HttpServerOptions& options, HttpRouter router)
      : service{.options = options, .router = std::move(router)} {}

  HttpService service;
  asio::ssl::context encryption{asio::ssl::context::tls_server};
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::unique_ptr<asio::thread_pool> pool;
  std::string address;
  std::thread thread;

  ~Parts() {
    asio::post(context, [this] { End(); });
    if (pool != nullptr) pool->join();
    if (thread.joinable()) thread.join();
  }

  // The thread ends when the last connection does, or after a while.
  void End() {
    service.is_ending = true;
    error_code ignored;  // no connection comes any more, whatever it says
    ignored = acceptor.close(ignored);
    for (HttpConnection* connection : service.connections) connection->End();
    pause.expires_after(kEndSeconds);
    pause.async_wait([this](error_code) { context.stop(); });
    EndOnceIdle();
  }

  void EndOnceIdle() {
    if (service.connections.empty()) return context.stop();
    const auto later = std::make_shared<asio::steady_timer>(context, std::chrono::milliseconds(5));
    later->async_wait([this, later](error_code) { EndOnceIdle(); });
  }

  absl::Status Listen() {
    ASSIGN_OR_RETURN(address, ListenAt(service.options.address, context, acceptor));
    return absl::OkStatus();
  }

  void Accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (service.is_ending) return;
      if (error) return AcceptLater(error);
      BeginConnection(std::move(socket), service);
      Accept();
    });
  }

  void AcceptLater(error_code error) {
    Log(LogLevel::kWarning, "a connection is not accepted", "address", address, "reason", error.message());
    pause.expires_after(kAcceptPause);
    pause.async_wait([this](error_code) {
      if (!service.is_ending) Accept();
    });
  }
};

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return parts_->address; }

int64_t HttpServer::connections() const { return parts_->service.num_connections; }

int64_t HttpServer::refused_connections() const { return parts_->service.num_refused; }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options,
                                                              HttpRouter router) {
  auto parts = std::make_unique<Parts>(options, std::move(router));
  if (options.tls) {
    RETURN_IF_ERROR(UseCertificate(*options.tls, parts->encryption));
    parts->service.encryption = &parts->encryption;
  }
  RETURN_IF_ERROR(parts->Listen());
  try {
    parts->pool = std::make_unique<asio::thread_pool>(options.threads);
  } catch (const boost::system::system_error&) {
    return absl::ResourceExhaustedError("the system has no more threads");
  }
  parts->service.pool = parts->pool.get();
  parts->Accept();
  if (!StartThread(parts->thread, [&running = *parts] { running.context.run(); }))
    return absl::ResourceExhaustedError("the system has no more threads");
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

}  // namespace attune
