#include "http/connection.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "http/event_writer.h"
#include "http/file_writer.h"
#include "http/problem.h"

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

// Lives as long as an operation of its own is under way. Stream: beast::tcp_stream, or beast::ssl_stream of
// it.
template <typename Stream>
class ConnectionOf final : public HttpConnection, public std::enable_shared_from_this<ConnectionOf<Stream>> {
 public:
  template <typename... Arguments>
  explicit ConnectionOf(HttpService& service, const asio::ip::address& peer, Arguments&&... arguments)
      : service_(service),
        peer_(peer.to_string()),
        source_(SourceOf(peer)),
        stream_(std::forward<Arguments>(arguments)...),
        file_(
            stream_, *service.pool, [this] { LimitTime(); },
            [this](bool is_whole) { GoOn(is_whole && begin_->keep_alive()); }),
        events_(stream_, Seconds(service.options.heartbeat_seconds), [this] { Close(); }) {
    service_.connections.insert(this);
    ++service_.num_connections;
    service_.counts.Add(source_);
  }
  ~ConnectionOf() override {
    Release();
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
    if (events_.is_open()) {
      events_.Close();
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

  // Limits all that comes until the next call together, so that a slow peer cannot gain time byte by byte.
  void LimitTime() { LimitTime(service_.options.seconds_limit); }
  void LimitTime(double seconds) { Lowest().expires_after(Seconds(seconds)); }
  void Await(State state, double seconds) {
    state_ = state;
    since_ = std::chrono::steady_clock::now();
    LimitTime(seconds);
  }

  void ReadHeader(double seconds) {
    if (service_.is_ending) return Close();
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(service_.options.most_header_bytes));
    parser_->body_limit(std::numeric_limits<uint64_t>::max());  // until it is known what the request wants
    Await(State::kHeader, seconds);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = Self()](error_code error, size_t) { self->HaveHeader(error); });
  }

  void HaveHeader(error_code error) {
    state_ = State::kAnswer;
    if (error == http::error::header_limit) return Refuse(431, "the header is too large");
    if (IsNoHttp(error))
      return Refuse(400, absl::StrCat("this is not a request of HTTP/1.1: ", error.message()));
    // The peer is gone or too slow.
    if (error) return Close();
    const auto& header = parser_->get();
    const bool has_body = parser_->content_length().value_or(0) > 0 || parser_->chunked();
    const std::optional<size_t> bound =
        service_.router.MostBodyBytes(View(header.method_string()), View(header.target()));
    // Such a body is not read.
    if (!bound && has_body) return Refuse(service_.router.Answer(RequestWithoutBody()));
    const size_t most = bound.value_or(0);
    if (parser_->content_length().value_or(0) > most) return Refuse(413, TooLarge(most));
    parser_->body_limit(most);
    // A chunked body has no declared size, and may reach the route's limit.
    const size_t bytes = parser_->content_length().value_or(parser_->chunked() ? most : 0);
    if (bytes <= kSmallBodyBytes) return BeginBody();
    asio::post(*service_.pool, [self = Self(), bytes, request = RequestWithoutBody()] {
      auto refusal = std::make_shared<std::optional<HttpResponse>>(self->service_.router.Refusal(request));
      asio::post(self->stream_.get_executor(), [self, bytes, refusal] {
        if (*refusal) return self->Refuse(**std::move(refusal));
        if (self->Reserve(bytes)) return self->BeginBody();
        self->Refuse(503, "the server has too many bodies to read; try again in some seconds");
      });
    });
  }

  void BeginBody() {
    Await(State::kBody, service_.options.seconds_limit);
    if (View(parser_->get()[http::field::expect]) == "100-continue") return WriteContinue();
    ReadBody();
  }

  // Takes room for a body; false if there is none.
  bool Reserve(size_t bytes) {
    if (bytes > service_.options.most_bodies_bytes - service_.bodies_bytes) return false;
    service_.bodies_bytes += bytes;
    reserved_ = bytes;
    return true;
  }
  void Release() { service_.bodies_bytes -= std::exchange(reserved_, 0); }

  void WriteContinue() {
    auto answer = std::make_shared<http::response<http::empty_body>>(http::status::continue_, 11);
    http::async_write(stream_, *answer, [self = Self(), answer](error_code error, size_t) {
      if (!error) self->ReadBody();
    });
  }

  void ReadBody() {
    http::async_read(stream_, buffer_, *parser_,
                     [self = Self()](error_code error, size_t) { self->HaveRequest(error); });
  }

  void HaveRequest(error_code error) {
    state_ = State::kAnswer;
    if (error == http::error::body_limit) return Refuse(413, TooLarge(0));
    if (error) return Close();
    keeps_alive_ = parser_->keep_alive();
    is_head_ = parser_->get().method() == http::verb::head;
    asio::post(*service_.pool, [self = Self(), request = TakeRequest()]() mutable {
      auto response = std::make_shared<HttpResponse>(self->service_.router.Answer(std::move(request)));
      asio::post(self->stream_.get_executor(), [self, response] { self->Write(std::move(*response)); });
    });
  }

  HttpRequest TakeRequest() {
    HttpRequest request = RequestWithoutBody();
    request.body = std::move(parser_->get().body());
    return request;
  }

  HttpRequest RequestWithoutBody() const {
    const auto& given = parser_->get();
    HttpRequest request = {.method = std::string(View(given.method_string())),
                           .path = std::string(View(given.target()))};
    for (const auto& field : given) {
      const std::string name = absl::AsciiStrToLower(View(field.name_string()));
      std::string& value = request.headers[name];
      absl::StrAppend(&value, value.empty() ? "" : ", ", View(field.value()));
    }
    request.peer = PeerBehind(service_.options.limits.proxies, peer_, request.Header("x-forwarded-for"));
    return request;
  }

  void Refuse(int status, std::string_view why) { Refuse(Problem(status, why)); }
  void Refuse(HttpResponse problem) {
    keeps_alive_ = false;
    Write(std::move(problem));
  }

  void Write(HttpResponse response) {
    Release();
    if (response.events != nullptr) return WriteEvents(std::move(response));
    if (response.file) return WriteFile(std::move(response));
    written_.emplace(static_cast<http::status>(response.status), 11);
    SetHeaders(*written_, response);
    written_->keep_alive(keeps_alive_ && !service_.is_ending);
    written_->body() = std::move(response.body);
    written_->prepare_payload();
    // The length stays that of the body.
    if (is_head_) written_->body().clear();
    LimitTime();
    http::async_write(stream_, *written_, [self = Self()](error_code error, size_t) {
      if (!error) self->GoOn(self->written_->keep_alive());
    });
  }

  // After an answer.
  void GoOn(bool keeps_alive) {
    if (keeps_alive) return ReadHeader(service_.options.seconds_limit);
    Close();
  }

  void WriteFile(HttpResponse response) {
    BeginAnswer(response);
    begin_->content_length(static_cast<uint64_t>(response.file->bytes));
    begin_->keep_alive(keeps_alive_ && !service_.is_ending);
    WriteBegin([self = Self(), file = *std::move(response.file)] {
      if (self->is_head_) return self->GoOn(self->begin_->keep_alive());
      self->file_.Write(self, file);
    });
  }

  template <typename Message>
  static void SetHeaders(Message& message, const HttpResponse& response) {
    message.set(http::field::content_type, response.content_type);
    for (const auto& [name, value] : response.headers) message.set(name, value);
  }

  void WriteEvents(HttpResponse response) {
    events_.Take(std::move(response.events));
    response.content_type = "text/event-stream";
    response.headers["Cache-Control"] = "no-store";
    BeginAnswer(response);
    begin_->chunked(true);
    begin_->keep_alive(false);
    WriteBegin([self = Self()] {
      if (self->service_.is_ending) self->events_.Close();
      self->Lowest().expires_never();
      self->events_.Begin(self);
    });
  }

  // The header of an answer whose body is written bit by bit.
  void BeginAnswer(const HttpResponse& response) {
    begin_.emplace(static_cast<http::status>(response.status), 11);
    SetHeaders(*begin_, response);
  }

  template <typename Then>
  void WriteBegin(Then then) {
    serializer_.emplace(*begin_);
    LimitTime();
    http::async_write_header(stream_, *serializer_, [self = Self(), then](error_code error, size_t) {
      if (!error) return then();
      if (self->events_.is_open()) self->events_.Close();
    });
  }

  void Close() {
    error_code ignored;  // the peer is gone already
    ignored = Lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  }

  static bool IsNoHttp(error_code error) {
    return error && error != http::error::end_of_stream && error != http::error::partial_message &&
           error.category() == http::make_error_code(http::error::bad_method).category();
  }
  static std::string TooLarge(size_t most) {
    return absl::StrCat("the body is too large",
                        most > 0 ? absl::StrCat("; it may have ", most, " bytes") : "");
  }
  static std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

  HttpService& service_;
  const std::string peer_, source_;
  Stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> written_;
  size_t reserved_ = 0;  // for the body of the request
  State state_ = State::kHeader;
  std::chrono::steady_clock::time_point since_;  // of the state, unless it is kAnswer
  bool keeps_alive_ = false, is_head_ = false;

  // While a file or events are written.
  std::optional<http::response<http::empty_body>> begin_;
  std::optional<http::response_serializer<http::empty_body>> serializer_;
  FileWriter<Stream> file_;
  EventWriter<Stream> events_;
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
