#include "http/client/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "http/client/look_up.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;
using TimePoint = SteadyClock::time_point;

constexpr size_t kPieceBytes = size_t{64} << 10;
constexpr int kMostInterim = 8;  // answers such as 100 Continue before the one that counts
constexpr unsigned kFirstFinalStatus = 200;
constexpr std::chrono::milliseconds kPoll(20);
constexpr std::string_view kBreaks("\r\n\0", 3);

TimePoint After(double seconds) {
  return SteadyClock::now() +
         std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

bool IsHttpError(error_code error) {
  return error.category() == http::make_error_code(http::error::bad_method).category();
}

bool IsBrokenByPeer(error_code error) {
  return error == asio::error::broken_pipe || error == asio::error::connection_reset;
}

// Stream: beast::tcp_stream, or beast::ssl_stream of it. The calling thread runs the context.
template <typename Stream>
class ConnectionOf final : public ClientConnection {
 public:
  template <typename... Encryption>
  ConnectionOf(const HttpUrl& url, const HttpClientOptions& options, Encryption&... encryption)
      : url_(url),
        options_(options),
        stream_(context_, encryption...),
        buffer_(options.most_header_bytes + 2 * kPieceBytes) {}

  absl::Status Connect(ClientEncryption* encryption) {
    end_ = After(options_.connect_seconds);
    ASSIGN_OR_RETURN(const std::vector<tcp::endpoint> endpoints,
                     LookUpHost(url_, end_, options_.cancellation));
    RETURN_IF_ERROR(ConnectToAny(endpoints));
    error_code ignored;  // it is faster, and nothing else
    Lowest().socket().set_option(tcp::no_delay(true), ignored);
    if constexpr (kIsEncrypted) {
      RETURN_IF_ERROR(encryption->Prepare(stream_.native_handle()));
      const error_code error =
          Await([&](auto done) { stream_.async_handshake(asio::ssl::stream_base::client, std::move(done)); });
      if (is_cancelled()) return Cancelled();
      if (error) return ClientEncryption::HandshakeError(stream_.native_handle(), error);
      RETURN_IF_ERROR(encryption->CheckPeer(stream_.native_handle()));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override {
    has_answered_ = keeps_alive_ = false;
    caller_error_ = absl::OkStatus();
    end_ = call.seconds > 0 ? After(call.seconds) : TimePoint::max();
    std::string head;
    RETURN_IF_ERROR(WriteHead(call, head));
    RETURN_IF_ERROR(SendAll(call, head));
    return Receive(call);
  }

  bool CanBeUsedAgain() override {
    if (!keeps_alive_ || buffer_.size() > 0) return false;
    char byte = 0;
    const ssize_t count = recv(Lowest().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  bool HasAnswered() const override { return has_answered_; }
  const absl::Status& caller_error() const override { return caller_error_; }

 private:
  static constexpr bool kIsEncrypted = !std::is_same_v<Stream, beast::tcp_stream>;
  using Parser = http::response_parser<http::buffer_body>;

  beast::tcp_stream& Lowest() { return beast::get_lowest_layer(stream_); }
  bool is_cancelled() const {
    return options_.cancellation != nullptr && options_.cancellation->is_cancelled();
  }
  static absl::Status Cancelled() { return absl::CancelledError("the call was cancelled"); }

  // Runs the operation that `begin` begins until it is over; it gets the handler. It ends early when the call
  // is out of time, when nothing has moved for long, or when it is cancelled.
  template <typename Begin>
  error_code Await(const Begin& begin, TimePoint end = TimePoint::max()) {
    Lowest().expires_at(std::min({end, end_, After(options_.silent_seconds)}));
    std::optional<error_code> result;
    begin([&result](error_code error, auto&&...) { result = error; });
    context_.restart();
    for (bool is_ended = false; !result;) {
      context_.run_one_for(kPoll);
      if (is_ended || !is_cancelled()) continue;
      Lowest().cancel();
      is_ended = true;
    }
    return *result;
  }

  // Each address has an equal share of the time that is left.
  absl::Status ConnectToAny(const std::vector<tcp::endpoint>& endpoints) {
    error_code error;
    for (size_t i = 0; i < endpoints.size(); ++i) {
      const auto left = static_cast<int64_t>(endpoints.size() - i);
      const TimePoint now = SteadyClock::now();
      error = Await([&](auto done) { Lowest().async_connect(endpoints[i], std::move(done)); },
                    now + (end_ - now) / left);
      if (is_cancelled()) return Cancelled();
      if (!error) return absl::OkStatus();
    }
    return absl::UnavailableError(absl::StrCat("cannot connect: ", Reason(error)));
  }

  absl::Status WriteHead(const HttpCall& call, std::string& head) {
    const auto is_line = [](std::string_view text) {
      return text.find_first_of(kBreaks) == std::string_view::npos;
    };
    bool is_fine = is_line(call.method) && is_line(call.target) && call.target.starts_with('/') &&
                   call.target.find(' ') == std::string::npos;
    head = absl::StrCat(call.method, " ", call.target, " HTTP/1.1\r\nHost: ", HostOf(url_), "\r\n");
    for (const auto& [name, value] : call.headers) {
      is_fine = is_fine && is_line(name) && is_line(value) && name.find(':') == std::string::npos;
      absl::StrAppend(&head, name, ": ", value, "\r\n");
    }
    if (!is_fine) return InvalidInput("the request has a line break or a space where none may be");
    if (call.source || !call.body.empty() || call.method == "POST" || call.method == "PUT" ||
        call.method == "PATCH")
      absl::StrAppend(&head, "Content-Length: ", BytesOf(call), "\r\n");
    absl::StrAppend(&head, "\r\n");
    return absl::OkStatus();
  }

  static int64_t BytesOf(const HttpCall& call) {
    return call.source ? call.source->bytes : std::ssize(call.body);
  }
  static std::string HostOf(const HttpUrl& url) {
    const std::string origin = url.Origin();
    return origin.substr(origin.find("://") + 3);
  }

  absl::Status SendAll(const HttpCall& call, const std::string& head) {
    std::array<asio::const_buffer, 2> first = {asio::buffer(head),
                                               call.source ? asio::const_buffer() : asio::buffer(call.body)};
    error_code error = Write(first);
    std::vector<char> piece(call.source ? kPieceBytes : 0);
    for (int64_t left = call.source ? call.source->bytes : 0; left > 0 && !error && !is_cancelled();) {
      const size_t most = std::min(piece.size(), static_cast<size_t>(left));
      const absl::StatusOr<size_t> count = call.source->read({piece.data(), most});
      if (!count.ok()) return caller_error_ = count.status();
      if (*count == 0 || *count > most) return InvalidInput("the body is shorter than was said");
      error = Write(asio::buffer(piece.data(), *count));
      left -= static_cast<int64_t>(*count);
    }
    // The server may have answered before it has closed its end.
    return !error || IsBrokenByPeer(error) ? absl::OkStatus() : Broken(error);
  }

  template <typename Buffers>
  error_code Write(const Buffers& buffers) {
    return Await([&](auto done) { asio::async_write(stream_, buffers, std::move(done)); });
  }

  absl::StatusOr<HttpAnswer> Receive(const HttpCall& call) {
    std::optional<Parser> parser;
    int interim = 0;
    do {
      if (++interim > kMostInterim) return absl::FailedPreconditionError("announces answers without an end");
      parser.emplace();
      parser->skip(call.method == "HEAD");
      parser->header_limit(static_cast<uint32_t>(options_.most_header_bytes));
      parser->body_limit(std::numeric_limits<uint64_t>::max());  // ReceiveBody() bounds it
      const error_code error =
          Await([&](auto done) { http::async_read_header(stream_, buffer_, *parser, std::move(done)); });
      has_answered_ = has_answered_ || parser->got_some() || buffer_.size() > 0;
      if (error) return Broken(error);
    } while (parser->get().result_int() < kFirstFinalStatus);
    HttpAnswer answer = HeadOf(parser->get());
    RETURN_IF_ERROR(ReceiveBody(call, *parser, answer));
    keeps_alive_ = parser->keep_alive();
    return answer;
  }

  static HttpAnswer HeadOf(const Parser::value_type& response) {
    HttpAnswer answer = {.status = static_cast<int>(response.result_int())};
    for (const auto& field : response) {
      std::string& value = answer.headers[absl::AsciiStrToLower(View(field.name_string()))];
      absl::StrAppend(&value, value.empty() ? "" : ", ", View(field.value()));
    }
    return answer;
  }

  absl::Status ReceiveBody(const HttpCall& call, Parser& parser, HttpAnswer& answer) {
    const bool is_taken = call.take && answer.status / 100 == 2;
    const auto too_large = [&] {
      return absl::ResourceExhaustedError(
          absl::StrCat("its answer has more than ", options_.most_body_bytes, " bytes"));
    };
    if (!is_taken && parser.content_length().value_or(0) > options_.most_body_bytes) return too_large();
    std::vector<char> piece(kPieceBytes);
    while (!parser.is_done()) {
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      error_code error =
          Await([&](auto done) { http::async_read_some(stream_, buffer_, parser, std::move(done)); });
      if (error == http::error::need_buffer) error = {};
      const std::string_view got(piece.data(), piece.size() - parser.get().body().size);
      if (is_taken) {
        if (!got.empty()) caller_error_ = call.take(answer, got);
        RETURN_IF_ERROR(caller_error_);
      } else {
        if (answer.body.size() + got.size() > options_.most_body_bytes) return too_large();
        answer.body += got;
      }
      if (error) return Broken(error);
    }
    return absl::OkStatus();
  }

  absl::Status Broken(error_code error) const {
    if (is_cancelled()) return Cancelled();
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return absl::ResourceExhaustedError("the header of its answer is too large");
    const bool is_cut = error == http::error::end_of_stream || error == http::error::partial_message;
    if (IsHttpError(error) && !is_cut)
      return absl::FailedPreconditionError(absl::StrCat("this is not HTTP/1.1: ", error.message()));
    return absl::UnavailableError(Reason(error));
  }

  static std::string Reason(error_code error) {
    return error == beast::error::timeout ? "no answer in time"
                                          : absl::StrCat("the connection broke: ", error.message());
  }

  const HttpUrl url_;
  const HttpClientOptions options_;
  asio::io_context context_{1};
  Stream stream_;
  beast::flat_buffer buffer_;
  TimePoint end_;  // of the call
  bool has_answered_ = false, keeps_alive_ = false;
  absl::Status caller_error_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ClientConnection>> ClientConnection::Connect(const HttpUrl& url,
                                                                            const HttpClientOptions& options,
                                                                            ClientEncryption* encryption) {
  if (encryption == nullptr) {
    auto plain = std::make_unique<ConnectionOf<beast::tcp_stream>>(url, options);
    RETURN_IF_ERROR(plain->Connect(nullptr));
    return plain;
  }
  auto encrypted = std::make_unique<ConnectionOf<beast::ssl_stream<beast::tcp_stream>>>(
      url, options, encryption->context());
  RETURN_IF_ERROR(encrypted->Connect(encryption));
  return encrypted;
}

}  // namespace attune
