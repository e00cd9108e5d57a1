#include "http/forwarder.h"

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"
#include "http/listen.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds kConnectPatience(5), kRefusalPatience(2);
constexpr std::chrono::milliseconds kAcceptPause(200);
constexpr size_t kBufferBytes = size_t{16} << 10;

constexpr std::string_view kBody =
    R"({"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": "no server schedules just now; try again"})";

std::string Refusal() {
  return absl::StrCat(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: "
      "1\r\nConnection: close\r\nContent-Length: ",
      kBody.size(), "\r\n\r\n", kBody);
}

struct Passages {
  int64_t count = 0;
  ConnectionCounts counts;
};

// One connection and the one that it is passed on by. It lives as long as something is read or written.
class Passage : public std::enable_shared_from_this<Passage> {
 public:
  Passage(tcp::socket near, std::string source, asio::io_context& context, Passages& passages)
      : near_(std::move(near)),
        source_(std::move(source)),
        far_(context),
        resolver_(context),
        timer_(context),
        passages_(passages) {
    ++passages_.count;
    passages_.counts.Add(source_);
  }
  ~Passage() {
    --passages_.count;
    passages_.counts.Remove(source_);
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  void Begin(const std::string& target, bool is_plain) {
    const size_t colon = target.rfind(':');
    if (colon == std::string::npos) return Refuse(is_plain);
    std::string host = target.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    timer_.expires_after(kConnectPatience);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->CloseFar();
    });
    resolver_.async_resolve(
        host, target.substr(colon + 1),
        [self = shared_from_this(), is_plain](error_code error, const tcp::resolver::results_type& found) {
          if (error) return self->Refuse(is_plain);
          asio::async_connect(self->far_, found, [self, is_plain](error_code failed, const tcp::endpoint&) {
            self->timer_.cancel();
            if (failed) return self->Refuse(is_plain);
            self->Pass(self->near_, self->far_, self->forth_);
            self->Pass(self->far_, self->near_, self->back_);
          });
        });
  }

 private:
  using Buffer = std::array<char, kBufferBytes>;

  void CloseFar() {
    error_code ignored;  // it may be closed
    ignored = far_.close(ignored);
    resolver_.cancel();
  }

  // Passes on what comes until it ends; then the other side sees the same end.
  void Pass(tcp::socket& from, tcp::socket& to, Buffer& buffer) {
    from.async_read_some(asio::buffer(buffer),
                         [self = shared_from_this(), &from, &to, &buffer](error_code error, size_t bytes) {
                           if (error) return self->End(from, to, error);
                           asio::async_write(to, asio::buffer(buffer, bytes),
                                             [self, &from, &to, &buffer](error_code failed, size_t) {
                                               if (failed) return self->End(from, to, failed);
                                               self->Pass(from, to, buffer);
                                             });
                         });
  }

  void End(tcp::socket& from, tcp::socket& to, error_code why) {
    error_code ignored;  // both may be closed
    if (why == asio::error::eof) {
      ignored = to.shutdown(tcp::socket::shutdown_send, ignored);
      return;
    }
    ignored = from.close(ignored);
    ignored = to.close(ignored);
  }

  // Says so, and reads on for a while: what is closed with bytes unread is reset, and the answer lost.
  void Refuse(bool is_plain) {
    timer_.cancel();
    if (!is_plain) return;
    timer_.expires_after(kRefusalPatience);
    timer_.async_wait([self = shared_from_this()](error_code) {
      error_code ignored;
      ignored = self->near_.close(ignored);
    });
    answer_ = Refusal();
    asio::async_write(near_, asio::buffer(answer_), [self = shared_from_this()](error_code error, size_t) {
      error_code ignored;
      ignored = self->near_.shutdown(tcp::socket::shutdown_send, ignored);
      if (!error) self->Drain();
    });
  }

  void Drain() {
    near_.async_read_some(asio::buffer(forth_), [self = shared_from_this()](error_code error, size_t) {
      if (!error) return self->Drain();
      self->timer_.cancel();
    });
  }

  tcp::socket near_;
  const std::string source_;  // by which its peer is counted
  tcp::socket far_;
  tcp::resolver resolver_;
  asio::steady_timer timer_;
  Buffer forth_, back_;
  std::string answer_;
  Passages& passages_;
};

}  // namespace

struct Forwarder::Parts {
  explicit Parts(const ForwarderOptions& given)
      : options(given), passages{.counts = ConnectionCounts(given.limits.of_address)} {}

  const ForwarderOptions options;
  Passages passages;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::string address;
  std::thread thread;

  ~Parts() {
    context.stop();
    if (thread.joinable()) thread.join();
  }

  void Accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error) {
        pause.expires_after(kAcceptPause);
        return pause.async_wait([this](error_code) { Accept(); });
      }
      Pass(std::move(socket));
      Accept();
    });
  }

  // A socket beyond the limits is closed here.
  void Pass(tcp::socket socket) {
    error_code ignored;  // a peer that is gone already has no address
    const asio::ip::address peer = socket.remote_endpoint(ignored).address();
    std::string source = SourceOf(peer);
    if (passages.count >= options.limits.in_all) return;
    if (!options.limits.proxies.contains(peer.to_string()) && !passages.counts.HasRoom(source)) return;
    std::make_shared<Passage>(std::move(socket), std::move(source), context, passages)
        ->Begin(options.target(), options.is_plain);
  }
};

Forwarder::Forwarder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Forwarder::~Forwarder() = default;

const std::string& Forwarder::address() const { return parts_->address; }

absl::StatusOr<std::unique_ptr<Forwarder>> Forwarder::Start(const ForwarderOptions& options) {
  auto parts = std::make_unique<Parts>(options);
  ASSIGN_OR_RETURN(parts->address, ListenAt(options.address, parts->context, parts->acceptor));
  parts->Accept();
  if (!StartThread(parts->thread, [&running = *parts] { running.context.run(); }))
    return absl::ResourceExhaustedError("the system has no more threads");
  return std::unique_ptr<Forwarder>(new Forwarder(std::move(parts)));
}

}  // namespace attune
