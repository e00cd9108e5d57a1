#include "http/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/file_descriptor.h"
#include "base/testing/await_that.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

int CountOf(std::string_view part, std::string_view text) {
  int count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

class HttpServerTest : public ::testing::Test {
 protected:
  void Start(HttpServerOptions options = {}) {
    options.address = "127.0.0.1:0";
    HttpRouter router;
    router.Add({"GET", "/metrics",
                [](const HttpRequest&) { return HttpResponse{.body = "up 1\n", .content_type = "text/x"}; }});
    router.Add({"GET", "/readyz",
                [](const HttpRequest&) { return HttpResponse{.status = 503, .body = "not yet\n"}; }});
    router.Add({.method = "PUT",
                .path = "/echo",
                .handler = [](const HttpRequest& request) { return HttpResponse{.body = request.body}; },
                .most_body_bytes = 10});
    router.Add({.method = "PUT",
                .path = "/large",
                .handler =
                    [](const HttpRequest& request) {
                      return HttpResponse{.body = absl::StrCat(request.body.size())};
                    },
                .refusal = [](const HttpRequest& request) -> std::optional<HttpResponse> {
                  if (request.Header("authorization") != "none") return std::nullopt;
                  return HttpResponse{.status = 401, .body = "who are you?"};
                }});
    router.Add({"GET", "/events", [this](const HttpRequest&) { return HttpResponse{.events = events_}; }});
    router.Add({"GET", "/file", [this](const HttpRequest&) {
                  FileDescriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
                  return HttpResponse{.file = HttpFile{std::make_shared<FileDescriptor>(std::move(file)),
                                                       std::ssize(content_)}};
                }});
    router.Add(
        {"GET", "/peer", [](const HttpRequest& request) { return HttpResponse{.body = request.peer}; }});
    router.Add({"GET", "/checked", [this](const HttpRequest&) {
                  FileDescriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
                  return HttpResponse{.file =
                                          HttpFile{.file = std::make_shared<FileDescriptor>(std::move(file)),
                                                   .bytes = std::ssize(content_),
                                                   .sha256 = Sha256Hex(content_)}};
                }});
    router.Add({"GET", "/fails", [](const HttpRequest&) -> HttpResponse { throw std::bad_alloc(); }});
    auto server = HttpServer::Start(options, std::move(router));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    ASSERT_THAT(server_->address(), StartsWith("127.0.0.1:"));
  }

  // From an address of this machine.
  FileDescriptor Connect(const char* from = "127.0.0.1") const {
    FileDescriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in own = {};
    own.sin_family = AF_INET;
    inet_pton(AF_INET, from, &own.sin_addr);
    EXPECT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof(own)), 0);
    const std::string& address = server_->address();
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str())));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    return socket;
  }
  static void Send(const FileDescriptor& socket, const std::string& text) {
    send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  // All that comes until the server closes the connection.
  static std::string Receive(const FileDescriptor& socket) {
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = recv(socket.get(), buffer, sizeof(buffer), 0)) > 0;)
      text.append(buffer, static_cast<size_t>(count));
    return text;
  }
  static std::string ReceiveUntil(const FileDescriptor& socket, const std::string& end) {
    std::string text;
    for (char c = 0; !absl::EndsWith(text, end) && recv(socket.get(), &c, 1, 0) == 1;) text += c;
    return text;
  }
  std::string Ask(const std::string& request, const char* from = "127.0.0.1") const {
    const FileDescriptor socket = Connect(from);
    Send(socket, request);
    return Receive(socket);
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/file";
  const std::string content_ = absl::StrCat("begin", std::string(700'000, 'x'));  // pieces
  const std::shared_ptr<EventStream> events_ = std::make_shared<EventStream>();
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersGet) {
  Start();
  EXPECT_THAT(Ask("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Type: text/x\r\n"),
                    HasSubstr("Content-Length: 5\r\n"), HasSubstr("Connection: close\r\n"),
                    EndsWith("\r\n\r\nup 1\n")));
  EXPECT_THAT(Ask("GET /metrics?all=1 HTTP/1.0\r\n\r\n"), EndsWith("up 1\n"));
  EXPECT_THAT(Ask("HEAD /metrics HTTP/1.0\r\n\r\n"),
              AllOf(HasSubstr("Content-Length: 5\r\n"), EndsWith("\r\n\r\n")));
  EXPECT_THAT(Ask("GET /readyz HTTP/1.0\r\n\r\n"), AllOf(StartsWith("HTTP/1.1 503 "), EndsWith("not yet\n")));
}

TEST_F(HttpServerTest, AConnectionServesManyRequests) {
  Start();
  const std::string put = "PUT /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
  const std::string answers = Ask(put + put + "GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answers, EndsWith("\r\n\r\nup 1\n"));
  EXPECT_EQ(CountOf("\r\n\r\nabcHTTP/1.1 200 OK", answers), 2);
}

TEST_F(HttpServerTest, RefusesEverythingElse) {
  Start();
  EXPECT_THAT(
      Ask("GET /secrets HTTP/1.0\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("application/problem+json"), HasSubstr("\"status\":404")));
  EXPECT_THAT(Ask("GET /../metrics HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  for (const char* method : {"DELETE", "OPTIONS"}) {
    EXPECT_THAT(Ask(std::string(method) + " /metrics HTTP/1.0\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")));
  }
  EXPECT_THAT(Ask("GET /fails HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(Ask("\x16\x03\x01 this is TLS\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, BodiesAreLimitedBeforeTheyAreRead) {
  Start();
  EXPECT_THAT(Ask("PUT /echo HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("it may have 10 bytes")));
  EXPECT_THAT(Ask("PUT /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Ask("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
              AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Connection: close\r\n")));
  EXPECT_THAT(Ask("POST /none HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(
      Ask("PUT /echo HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc"),
      AllOf(StartsWith("HTTP/1.1 100 Continue\r\n"), EndsWith("\r\n\r\nabc")));
}

TEST_F(HttpServerTest, BodiesAreLimitedTogether) {
  Start({.most_bodies_bytes = 100'000});
  const std::string large = "PUT /large HTTP/1.1\r\nContent-Length: 60000\r\n\r\n";
  const FileDescriptor slow = Connect();
  Send(slow, "PUT /large HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 60000\r\n\r\n");
  // Now it has its room.
  EXPECT_THAT(ReceiveUntil(slow, "\r\n\r\n"), StartsWith("HTTP/1.1 100 "));
  Send(slow, "x");
  // An answer that comes before the body was read may be lost.
  std::string other;
  testing::AwaitThat([&] {
    const FileDescriptor socket = Connect();
    Send(socket, large + std::string(60'000, 'x') + "GET /metrics HTTP/1.0\r\n\r\n");
    other = Receive(socket);
    return other.starts_with("HTTP/1.1 503 ");
  });
  EXPECT_THAT(Ask("PUT /echo HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc"), EndsWith("abc"));
  Send(slow, std::string(59'999, 'x'));
  EXPECT_THAT(ReceiveUntil(slow, "60000"), StartsWith("HTTP/1.1 200 "));
  // Its room is free again.
  EXPECT_THAT(Ask(large + std::string(60'000, 'x') + "GET /metrics HTTP/1.0\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("up 1\n")));
}

TEST_F(HttpServerTest, ARouteRefusesABodyBeforeItIsRead) {
  Start();
  EXPECT_THAT(Ask("PUT /large HTTP/1.1\r\nAuthorization: none\r\nContent-Length: 60000\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("Connection: close\r\n"),
                    EndsWith("\r\n\r\nwho are you?")));
}

TEST_F(HttpServerTest, ALongHeaderIsRefused) {
  Start();
  EXPECT_THAT(Ask("GET /metrics HTTP/1.1\r\nX: " + std::string(40'000, 'x')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, AFileIsWrittenPieceByPiece) {
  Start();
  ASSERT_TRUE(WriteFileAtomically(path_, content_).ok());
  const std::string get = "GET /file HTTP/1.1\r\n\r\n";
  const std::string answers = Ask(get + "HEAD /file HTTP/1.1\r\n\r\n" + "GET /file HTTP/1.0\r\n\r\n");
  EXPECT_EQ(CountOf("Content-Length: 700005\r\n", answers), 3);
  EXPECT_EQ(CountOf(content_, answers), 2);
  // One that is shorter than it was ends early, so that the peer sees it.
  ASSERT_TRUE(WriteFileAtomically(path_, "short").ok());
  EXPECT_THAT(Ask(get + get), EndsWith("\r\n\r\nshort"));
}

TEST_F(HttpServerTest, AFileWithADigestIsCutOffIfItIsAnother) {
  Start();
  ASSERT_TRUE(WriteFileAtomically(path_, content_).ok());
  const std::string get = "GET /checked HTTP/1.1\r\n\r\n", last = "GET /checked HTTP/1.0\r\n\r\n";
  EXPECT_EQ(CountOf(content_, Ask(get + last)), 2);
  std::string damaged = content_;
  damaged.front() ^= 1;
  ASSERT_TRUE(WriteFileAtomically(path_, damaged).ok());
  const std::string answer = Ask(get + last);
  EXPECT_EQ(CountOf("HTTP/1.1 200", answer), 1);
  EXPECT_LT(answer.size(), content_.size());
}

TEST_F(HttpServerTest, EventsAreWrittenAsTheyCome) {
  Start();
  events_->Send({.id = "7", .event = "state", .data = "one\ntwo"});
  const FileDescriptor socket = Connect();
  Send(socket, "GET /events HTTP/1.1\r\n\r\n");
  EXPECT_THAT(ReceiveUntil(socket, "\n\n\r\n"),
              AllOf(HasSubstr("Content-Type: text/event-stream\r\n"),
                    HasSubstr("id: 7\nevent: state\ndata: one\ndata: two\n\n")));
  EXPECT_TRUE(events_->Send({.data = "three"}));
  EXPECT_THAT(ReceiveUntil(socket, "\n\n\r\n"), HasSubstr("data: three\n\n"));
  events_->Close();
  EXPECT_THAT(Receive(socket), EndsWith("0\r\n\r\n"));
  EXPECT_FALSE(events_->Send({.data = "four"}));
}

TEST_F(HttpServerTest, ASilentStreamShowsThatItLives) {
  Start({.heartbeat_seconds = 0.01});
  const FileDescriptor socket = Connect();
  Send(socket, "GET /events HTTP/1.1\r\n\r\n");
  EXPECT_THAT(ReceiveUntil(socket, ": alive\n\n"), HasSubstr("200 OK"));
}

TEST_F(HttpServerTest, AStreamIsClosedWhenItsPeerIsGone) {
  Start();
  {
    const FileDescriptor socket = Connect();
    Send(socket, "GET /events HTTP/1.1\r\n\r\n");
    ReceiveUntil(socket, "\r\n\r\n");
  }
  testing::AwaitThat([&] { return events_->is_closed(); });
}

TEST_F(HttpServerTest, AStreamThatNobodyReadsIsCutOff) {
  EventStream stream(/*most_bytes=*/100);
  EXPECT_TRUE(stream.Send({.data = std::string(50, 'x')}));
  EXPECT_FALSE(stream.Send({.data = std::string(50, 'x')}));
  EXPECT_TRUE(stream.Take().is_closed);
}

TEST_F(HttpServerTest, AnEndingServerEndsItsStreams) {
  Start();
  const FileDescriptor socket = Connect();
  Send(socket, "GET /events HTTP/1.1\r\n\r\n");
  ReceiveUntil(socket, "\r\n\r\n");
  server_.reset();
  EXPECT_THAT(Receive(socket), EndsWith("0\r\n\r\n"));
}

TEST_F(HttpServerTest, ASlowClientIsCutOff) {
  Start({.greeting_seconds = 0.2, .seconds_limit = 600});
  const FileDescriptor silent = Connect(), slow = Connect();
  Send(slow, "GET /metrics HT");
  EXPECT_EQ(Receive(silent), "");
  EXPECT_EQ(Receive(slow), "");
}

TEST_F(HttpServerTest, ASlowClientDelaysNobody) {
  Start({.seconds_limit = 600});
  const FileDescriptor slow = Connect();
  Send(slow, "GET /metrics HT");
  EXPECT_THAT(Ask("GET /metrics HTTP/1.0\r\n\r\n"), EndsWith("up 1\n"));
}

TEST_F(HttpServerTest, ConnectionsBeyondTheLimitAreClosed) {
  constexpr int kMost = 4;
  Start({.limits = {.in_all = kMost}, .seconds_limit = 600});
  std::vector<FileDescriptor> open;
  for (int i = 0; i < kMost; ++i) open.push_back(Connect());
  EXPECT_EQ(Receive(Connect()), "");
  Send(open.back(), "GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(Receive(open.back()), EndsWith("up 1\n"));
  open.clear();
  // The server has room again once it has noticed.
  std::string answer;
  for (int attempt = 0; attempt < 100 && answer.empty(); ++attempt)
    answer = Ask("GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, EndsWith("up 1\n"));
}

TEST_F(HttpServerTest, AnAddressHasItsShareOfConnectionsAlone) {
  constexpr int kMost = 3;
  Start({.limits = {.of_address = kMost}, .greeting_seconds = 600});
  std::vector<FileDescriptor> open;
  for (int i = 0; i < kMost; ++i) open.push_back(Connect());
  EXPECT_EQ(Receive(Connect()), "");
  EXPECT_EQ(server_->refused_connections(), 1);
  EXPECT_THAT(Ask("GET /metrics HTTP/1.0\r\n\r\n", "127.0.0.2"), EndsWith("up 1\n"));
}

TEST_F(HttpServerTest, AProxyConnectsForManyAndSaysForWhom) {
  Start({.limits = {.of_address = 1, .proxies = {"127.0.0.2"}}});
  const FileDescriptor one = Connect("127.0.0.2"), other = Connect("127.0.0.2");
  const std::string request = "GET /peer HTTP/1.0\r\nX-Forwarded-For: 1.2.3.4, 192.0.2.7\r\n\r\n";
  EXPECT_THAT(Ask(request, "127.0.0.2"), EndsWith("\r\n\r\n192.0.2.7"));
  EXPECT_THAT(Ask(request), EndsWith("\r\n\r\n127.0.0.1"));
}

TEST_F(HttpServerTest, InAFullServerSilentConnectionsOfTheHeaviestAddressGiveWay) {
  constexpr int kMost = 4;
  Start({.limits = {.in_all = kMost, .of_address = 0}, .greeting_seconds = 600, .seconds_limit = 600});
  const FileDescriptor busy = Connect();
  Send(busy, "GET /events HTTP/1.1\r\n\r\n");
  ReceiveUntil(busy, "\r\n\r\n");
  const FileDescriptor silent = Connect();
  const FileDescriptor slow_header = Connect();
  Send(slow_header, "GET /metrics HT");
  const FileDescriptor slow_body = Connect();
  Send(slow_body, "PUT /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  ReceiveUntil(slow_body, "\r\n\r\n");
  const FileDescriptor second = Connect("127.0.0.2"), third = Connect("127.0.0.2");
  for (const FileDescriptor* closed : {&silent, &slow_header}) EXPECT_EQ(Receive(*closed), "");
  // Now both have as many, and none gives way.
  EXPECT_EQ(Receive(Connect("127.0.0.2")), "");
  EXPECT_EQ(Receive(Connect()), "");
  Send(second, "GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(Receive(second), EndsWith("up 1\n"));
  Send(slow_body, "abc");
  EXPECT_THAT(ReceiveUntil(slow_body, "abc"), StartsWith("HTTP/1.1 200 "));
  EXPECT_FALSE(events_->is_closed());
}

TEST_F(HttpServerTest, EndsWhileConnectionsAreOpen) {
  Start();
  const FileDescriptor open = Connect();
  Send(open, "GET");
  server_.reset();
  EXPECT_EQ(Receive(open), "");
}

TEST(HttpServer, RefusesAnAddressThatIsNoneOrIsTaken) {
  for (const char* address : {"", "9192", "127.0.0.1", "no such host:1", "127.0.0.1:http://"}) {
    const auto server = HttpServer::Start({.address = address}, {});
    EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument) << address;
  }
  const auto first = HttpServer::Start({.address = "127.0.0.1:0"}, {});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(HttpServer::Start({.address = (*first)->address()}, {}).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace attune
