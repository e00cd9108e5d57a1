#include "http/connection.h"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "http/problem.h"
#include "http/request_reader.h"
#include "http/response_writer.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

std::chrono::steady_clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

bool IsNoHttp(error_code error) {
  return error && error != http::error::end_of_stream && error != http::error::partial_message &&
         error.category() == http::make_error_code(http::error::bad_method).category();
}

std::string TooLarge(size_t most) {
  return absl::StrCat("the body is too large",
                      most > 0 ? absl::StrCat("; it may have ", most, " bytes") : "");
}

// Lives as long as an operation of its own is under way. Stream: beast::tcp_stream, or beast::ssl_stream of
// it.
template <typename Stream>
class ConnectionOf final : public HttpConnection, public std::enable_shared_from_this<ConnectionOf<Stream>> {
 public:
  template <typename... Arguments>
  explicit ConnectionOf(HttpService& service, const asio::ip::address& peer, Arguments&&... arguments)
      : service_(service),
        source_(SourceOf(peer)),
        stream_(std::forward<Arguments>(arguments)...),
        room_(service.bodies_bytes, service.options.most_bodies_bytes),
        reader_(stream_, service.options, peer.to_string()),
        writer_(
            stream_, *service.pool, Seconds(service.options.heartbeat_seconds),
            [this](bool is_limited) {
              if (is_limited) return LimitTime(Limit());
              Lowest().expires_never();
            },
            [this](bool keeps_alive) {
              if (keeps_alive) return ReadHeader(Limit());
              Close();
            }) {
    service_.connections.insert(this);
    ++service_.num_connections;
    service_.counts.Add(source_);
  }
  ~ConnectionOf() override {
    service_.connections.erase(this);
    --service_.num_connections;
    service_.counts.Remove(source_);
  }
  ConnectionOf(const ConnectionOf&) = delete;
  ConnectionOf& operator=(const ConnectionOf&) = delete;

  void Begin() {
    if constexpr (kIsEncrypted) {
      Await(State::kHeader, service_.options.greeting_seconds);
      stream_.async_handshake(asio::ssl::stream_base::server, [self = Self()](error_code error) {
        if (!error) self->ReadHeader(self->service_.options.greeting_seconds);
      });
    } else {
      ReadHeader(service_.options.greeting_seconds);
    }
  }

  void End() override {
    if (writer_.has_events()) {
      writer_.CloseEvents();
    } else if (state_ == State::kHeader) {
      GiveWay();
    }
  }

  void GiveWay() override {
    state_ = State::kAnswer;
    Lowest().cancel();
  }
  std::optional<std::chrono::steady_clock::time_point> WaitsSince() const override {
    if (state_ == State::kAnswer) return std::nullopt;
    return since_;
  }
  const std::string& source() const override { return source_; }

 private:
  // The awaited event: the next header, and the handshake before the first one, the body, or the server's
  // answer.
  enum class State : uint8_t { kHeader, kBody, kAnswer };

  static constexpr size_t kSmallBodyBytes = size_t{4} << 10;
  static constexpr bool kIsEncrypted = !std::is_same_v<Stream, beast::tcp_stream>;

  std::shared_ptr<ConnectionOf> Self() { return this->shared_from_this(); }
  beast::tcp_stream& Lowest() { return beast::get_lowest_layer(stream_); }
  double Limit() const { return service_.options.seconds_limit; }

  // Limits all that comes until the next call together, so that a slow peer cannot gain time byte by byte.
  void LimitTime(double seconds) { Lowest().expires_after(Seconds(seconds)); }
  void Await(State state, double seconds) {
    state_ = state;
    since_ = std::chrono::steady_clock::now();
    LimitTime(seconds);
  }

  void ReadHeader(double seconds) {
    if (service_.is_ending) return Close();
    Await(State::kHeader, seconds);
    reader_.ReadHeader(Self(), [this](error_code error) { HaveHeader(error); });
  }

  void HaveHeader(error_code error) {
    state_ = State::kAnswer;
    if (error == http::error::header_limit) return Refuse(Problem(431, "the header is too large"));
    if (IsNoHttp(error))
      return Refuse(Problem(400, absl::StrCat("this is not a request of HTTP/1.1: ", error.message())));
    // The peer is gone or too slow.
    if (error) return Close();
    const std::optional<size_t> bound = service_.router.MostBodyBytes(reader_.method(), reader_.target());
    // Such a body is not read.
    if (!bound && reader_.has_body()) return Refuse(service_.router.Answer(reader_.WithoutBody()));
    const size_t most = bound.value_or(0);
    // A chunked body has no declared size, and may reach the route's limit.
    const size_t bytes = reader_.BodyBytes(most);
    if (bytes > most) return Refuse(Problem(413, TooLarge(most)));
    if (bytes <= kSmallBodyBytes) return ReadBody(most);
    asio::post(*service_.pool, [self = Self(), bytes, most, request = reader_.WithoutBody()] {
      auto refusal = std::make_shared<std::optional<HttpResponse>>(self->service_.router.Refusal(request));
      asio::post(self->stream_.get_executor(), [self, bytes, most, refusal] {
        if (*refusal) return self->Refuse(**std::move(refusal));
        if (self->room_.Reserve(bytes)) return self->ReadBody(most);
        self->Refuse(Problem(503, "the server has too many bodies to read; try again in some seconds"));
      });
    });
  }

  void ReadBody(size_t most) {
    Await(State::kBody, Limit());
    reader_.ReadBody(Self(), most, [this](error_code error) { HaveRequest(error); });
  }

  void HaveRequest(error_code error) {
    state_ = State::kAnswer;
    if (error == http::error::body_limit) return Refuse(Problem(413, TooLarge(0)));
    if (error) return Close();
    const ResponseForm form = {.keeps_alive = reader_.keep_alive(), .is_head = reader_.is_head()};
    asio::post(*service_.pool, [self = Self(), form, request = reader_.Take()]() mutable {
      auto response = std::make_shared<HttpResponse>(self->service_.router.Answer(std::move(request)));
      asio::post(self->stream_.get_executor(),
                 [self, form, response] { self->Write(std::move(*response), form); });
    });
  }

  void Refuse(HttpResponse problem) { Write(std::move(problem), {.keeps_alive = false}); }

  void Write(HttpResponse response, ResponseForm form) {
    room_.Release();
    form.keeps_alive = form.keeps_alive && !service_.is_ending;
    writer_.Write(Self(), std::move(response), form);
    if (service_.is_ending && writer_.has_events()) writer_.CloseEvents();
  }

  void Close() {
    error_code ignored;  // the peer is gone already
    ignored = Lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  }

  HttpService& service_;
  const std::string source_;
  Stream stream_;
  BodyRoom room_;
  RequestReader<Stream> reader_;
  ResponseWriter<Stream> writer_;
  State state_ = State::kHeader;
  std::chrono::steady_clock::time_point since_;  // of the state, unless it is kAnswer
};

void CountRefused(const std::string& source, HttpService& service) {
  if (service.num_refused++ == 0)
    Log(LogLevel::kWarning, "a connection is refused, for there are too many; metrics count all that are",
        "peer", source, "of it", service.counts.Of(source), "connections", service.connections.size());
}

// The connection that waits and whose address has the most, and of these the one that has waited longest;
// null: none waits.
HttpConnection* HeaviestThatWaits(const HttpService& service) {
  HttpConnection* heaviest = nullptr;
  int most = 0;
  std::chrono::steady_clock::time_point earliest;
  for (HttpConnection* connection : service.connections) {
    const auto since = connection->WaitsSince();
    if (!since) continue;
    const int count = service.counts.Of(connection->source());
    if (heaviest != nullptr && (count < most || (count == most && *since >= earliest))) continue;
    heaviest = connection;
    most = count;
    earliest = *since;
  }
  return heaviest;
}

// Whether there is room for one more, if need be by closing one of an address that has more even so.
bool MakeRoom(const std::string& source, bool is_limited, HttpService& service) {
  if (is_limited && !service.counts.HasRoom(source)) return false;
  if (std::ssize(service.connections) < service.options.limits.in_all) return true;
  HttpConnection* const heaviest = HeaviestThatWaits(service);
  if (heaviest == nullptr || service.counts.Of(heaviest->source()) <= service.counts.Of(source) + 1)
    return false;
  CountRefused(heaviest->source(), service);
  heaviest->GiveWay();
  return true;
}

}  // namespace

void BeginConnection(asio::ip::tcp::socket socket, HttpService& service) {
  error_code ignored;  // a peer that is gone already has no address
  const asio::ip::address peer = socket.remote_endpoint(ignored).address();
  if (!MakeRoom(SourceOf(peer), !service.options.limits.proxies.contains(peer.to_string()), service)) {
    CountRefused(SourceOf(peer), service);
    return;
  }
  if (service.encryption == nullptr) {
    std::make_shared<ConnectionOf<beast::tcp_stream>>(service, peer, std::move(socket))->Begin();
  } else {
    std::make_shared<ConnectionOf<beast::ssl_stream<beast::tcp_stream>>>(service, peer, std::move(socket),
                                                                         *service.encryption)
        ->Begin();
  }
}

}  // namespace attune
