#include "http/connection.h"

#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "http/peer_stream.h"
#include "http/problem.h"
#include "http/request_reader.h"
#include "http/response_writer.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
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

// Lives as long as an operation of its own is under way.
class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpService& service, const asio::ip::address& peer, asio::ip::tcp::socket socket)
      : service_(service),
        source_(SourceOf(peer)),
        stream_(std::move(socket), service.encryption),
        room_(service.bodies_bytes, service.options.most_bodies_bytes),
        reader_(stream_, service.options, peer.to_string()),
        writer_(
            stream_, *service.pool, Seconds(service.options.heartbeat_seconds),
            [this](bool is_limited) {
              if (is_limited) return stream_.LimitTime(Seconds(Limit()));
              stream_.LimitNoTime();
            },
            [this](bool keeps_alive) {
              if (keeps_alive) return ReadHeader(Limit());
              Close();
            }) {
    service_.connections.insert(this);
    ++service_.num_connections;
    service_.counts.Add(source_);
  }
  ~Connection() override {
    service_.connections.erase(this);
    --service_.num_connections;
    service_.counts.Remove(source_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Begin() {
    Await(State::kHeader, service_.options.greeting_seconds);
    stream_.ShakeHands([self = Self()] { self->ReadHeader(self->service_.options.greeting_seconds); });
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
    stream_.Cancel();
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

  std::shared_ptr<Connection> Self() { return shared_from_this(); }
  double Limit() const { return service_.options.seconds_limit; }

  void Await(State state, double seconds) {
    state_ = state;
    since_ = std::chrono::steady_clock::now();
    stream_.LimitTime(Seconds(seconds));
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

  void Close() { stream_.ShutDown(); }

  HttpService& service_;
  const std::string source_;
  PeerStream stream_;
  BodyRoom room_;
  RequestReader reader_;
  ResponseWriter writer_;
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
  std::make_shared<Connection>(service, peer, std::move(socket))->Begin();
}

}  // namespace attune
