#include "http/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "http/client/script_server_for_test.h"
#include "http/server.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::ScriptServer;
using ::testing::StartsWith;

std::unique_ptr<HttpClient> ClientOf(const std::string& url, const HttpClientOptions& options = {}) {
  auto client = HttpClient::Open(url, options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

class HttpClientTest : public ::testing::Test {
 protected:
  HttpClientTest() {
    HttpRouter router;
    const auto echo = [](const HttpRequest& request) {
      return HttpResponse{.status = 201,
                          .body = request.body,
                          .content_type = "text/x",
                          .headers = {{"X-Seen", std::string(request.Header("x-one"))}}};
    };
    router.Add({.method = "POST", .path = "/echo", .handler = echo, .most_body_bytes = size_t{8} << 20});
    router.Add({"GET", "/path", [](const HttpRequest& request) {
                  return HttpResponse{.body = request.query.contains("q") ? request.query.at("q") : "none"};
                }});
    router.Add({"GET", "/large",
                [](const HttpRequest&) { return HttpResponse{.body = std::string(size_t{3} << 20, 'x')}; }});
    server_ = *HttpServer::Start({.address = "127.0.0.1:0"}, std::move(router));
    client_ = ClientOf("http://" + server_->address());
  }

  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(HttpClientTest, GetsAnAnswerWithItsHeaders) {
  const auto answer =
      client_->Send({.method = "POST", .target = "/echo", .headers = {{"X-One", "1"}}, .body = "abc"});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "abc");
  EXPECT_EQ(answer->Header("x-seen"), "1");
  EXPECT_EQ(answer->Header("content-type"), "text/x");
  EXPECT_EQ(client_->Send({.target = "/path?q=a%20b"})->body, "a b");
  EXPECT_EQ(client_->Send({.target = "/nothing"})->status, 404);
  const auto head = client_->Send({.method = "HEAD", .target = "/path"});
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->Header("content-length"), "4");
  EXPECT_EQ(client_->Send({.target = "/path"})->body, "none");
}

TEST_F(HttpClientTest, BodiesAreStreamedBothWays) {
  const std::string whole(size_t{5} << 20, 'y');
  size_t offset = 0, taken = 0, largest = 0;
  HttpCall call = {.method = "POST", .target = "/echo"};
  call.source = HttpBodySource{.bytes = std::ssize(whole),
                               .read = [&](std::span<char> buffer) -> absl::StatusOr<size_t> {
                                 largest = std::max(largest, buffer.size());
                                 const size_t count = whole.copy(buffer.data(), buffer.size(), offset);
                                 offset += count;
                                 return count;
                               }};
  call.take = [&](const HttpAnswer& head, std::string_view piece) {
    EXPECT_EQ(head.status, 201);
    largest = std::max(largest, piece.size());
    taken += piece.size();
    return absl::OkStatus();
  };
  const auto answer = client_->Send(call);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(taken, whole.size());
  EXPECT_LE(largest, size_t{64} << 10);
}

TEST_F(HttpClientTest, ErrorsOfTheCallsOwnFunctionsAreReturnedAsTheyAre) {
  HttpCall call = {.target = "/large"};
  call.take = [](const HttpAnswer&, std::string_view) { return absl::DataLossError("full"); };
  EXPECT_EQ(client_->Send(call).status(), absl::DataLossError("full"));
  HttpCall post = {.method = "POST", .target = "/echo"};
  post.source = HttpBodySource{.bytes = 1'000'000, .read = [](std::span<char>) -> absl::StatusOr<size_t> {
                                 return absl::DataLossError("gone");
                               }};
  EXPECT_EQ(client_->Send(post).status(), absl::DataLossError("gone"));
  // An answer that is none of success is not for `take`.
  call.target = "/nothing";
  EXPECT_THAT(client_->Send(call)->body, HasSubstr("404"));
}

TEST_F(HttpClientTest, AnswersAreBounded) {
  const auto small = ClientOf("http://" + server_->address(), {.most_body_bytes = 1000});
  const auto answer = small->Send({.target = "/large"});
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(answer.status().message(),
              AllOf(StartsWith("http://127.0.0.1:"), HasSubstr("more than 1000 bytes")));
}

TEST_F(HttpClientTest, ManyThreadsAskAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j)
        EXPECT_EQ(client_->Send({.target = absl::StrCat("/path?q=", i)})->body, absl::StrCat(i));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(HttpClientTest, AnEarlyRefusalOfABodyIsSeen) {
  const auto answer =
      client_->Send({.method = "POST", .target = "/nothing", .body = std::string(4 << 20, 'x')});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 404);
}

TEST_F(HttpClientTest, NoRequestIsSplit) {
  EXPECT_EQ(client_->Send({.headers = {{"X", "1\r\nY: 2"}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(client_->Send({.target = "/a b"}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(client_->Send({.target = "http://x/"}).status().code(), absl::StatusCode::kInvalidArgument);
}

constexpr char kShort[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// The server's answer to a GET; the script sends it.
absl::StatusOr<HttpAnswer> AnswerOf(const ScriptServer::Script& script, const HttpClientOptions& options = {},
                                    double seconds = 60) {
  const ScriptServer server([&](const ScriptServer::Peer& peer, int number) {
    peer.ReceiveUntil("\r\n\r\n");
    script(peer, number);
  });
  return ClientOf(server.url(), options)->Send({.seconds = seconds});
}
absl::StatusOr<HttpAnswer> AnswerOf(std::string_view text, const HttpClientOptions& options = {}) {
  return AnswerOf([&](const ScriptServer::Peer& peer, int) { peer.Send(text); }, options);
}

TEST(HttpClientConnections, AreUsedAgain) {
  const ScriptServer server([](const ScriptServer::Peer& peer, int) {
    while (!peer.ReceiveUntil("\r\n\r\n").empty()) peer.Send(kShort);
  });
  const auto client = ClientOf(server.url());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client->Send({})->body, "ok");
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClientConnections, OneThatTheServerHasClosedIsReplaced) {
  // Each connection answers once, and closes without a word.
  const ScriptServer server([](const ScriptServer::Peer& peer, int) {
    peer.ReceiveUntil("\r\n\r\n");
    peer.Send(kShort);
  });
  const auto client = ClientOf(server.url());
  for (int i = 0; i < 3; ++i) {
    const auto answer = client->Send({});
    ASSERT_TRUE(answer.ok()) << answer.status();
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST(HttpClientConnections, ACallThatMayCountTwiceIsNotRepeated) {
  const ScriptServer server([](const ScriptServer::Peer& peer, int number) {
    peer.ReceiveUntil("\r\n\r\n");
    if (number > 0) return;
    peer.Send(kShort);
    // The second request of this connection has no answer.
    peer.ReceiveUntil("\r\n\r\n");
  });
  const auto client = ClientOf(server.url());
  EXPECT_TRUE(client->Send({}).ok());
  EXPECT_EQ(client->Send({.method = "POST"}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClientConnections, ACallThatCountsOnceIsRepeatedWithItsBody) {
  std::string repeated;
  const ScriptServer server([&](const ScriptServer::Peer& peer, int number) {
    repeated = peer.ReceiveUntil(number == 0 ? "\r\n\r\n" : "body");
    peer.Send(kShort);
    if (number == 0) peer.ReceiveUntil("body");
  });
  const auto client = ClientOf(server.url());
  EXPECT_TRUE(client->Send({}).ok());
  const auto answer = client->Send({.method = "PUT", .body = "the body"});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(repeated, AllOf(StartsWith("PUT / "), EndsWith("\r\n\r\nthe body")));
  EXPECT_EQ(server.connections(), 2);
}

TEST(HttpClientConnections, ALargeBodyIsSentOnceTheServerWantsIt) {
  const ScriptServer server([](const ScriptServer::Peer& peer, int number) {
    peer.ReceiveUntil("\r\n\r\n");
    if (number == 0) peer.Send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    if (number == 1) peer.Send("HTTP/1.1 100 Continue\r\n\r\n");
    if (number == 1 && peer.ReceiveUntil("end").ends_with("end")) peer.Send(kShort);
  });
  const auto client = ClientOf(server.url());
  int64_t sent = 0;
  HttpCall call = {.method = "POST"};
  call.source = HttpBodySource{.bytes = 100'000, .read = [&](std::span<char> buffer) {
                                 std::ranges::fill(buffer, ' ');
                                 sent += std::ssize(buffer);
                                 if (sent == 100'000)
                                   std::ranges::copy(std::string_view("end"), buffer.end() - 3);
                                 return buffer.size();
                               }};
  EXPECT_EQ(client->Send(call)->status, 413);
  EXPECT_EQ(sent, 0);
  EXPECT_EQ(client->Send(call)->body, "ok");
  EXPECT_EQ(sent, 100'000);
}

TEST(HttpClientFaults, AnswersAreRead) {
  EXPECT_EQ(AnswerOf("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end")->body, "until the end");
  EXPECT_EQ(
      AnswerOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n")
          ->body,
      "abc");
  EXPECT_EQ(AnswerOf("HTTP/1.1 204 No Content\r\n\r\n")->status, 204);
  EXPECT_EQ(AnswerOf(absl::StrCat("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\n", kShort))->body,
            "ok");
  EXPECT_EQ(AnswerOf("HTTP/1.1 200 OK\r\nX: 1\r\nx: 2\r\nContent-Length: 0\r\n\r\n")->Header("x"), "1, 2");
}

TEST(HttpClientFaults, ACutAnswerIsNone) {
  for (const char* text :
       {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nA: b\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"}) {
    const auto answer = AnswerOf(text);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << text << answer.status();
    EXPECT_THAT(answer.status().message(), AllOf(StartsWith("http://127.0.0.1:"), HasSubstr("broke")))
        << text;
  }
}

TEST(HttpClientFaults, WhatIsNoHttpIsRefused) {
  for (const char* text :
       {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno header\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    const auto answer = AnswerOf(text);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kFailedPrecondition) << text << answer.status();
  }
}

TEST(HttpClientFaults, NothingGrowsWithoutABound) {
  const HttpClientOptions options = {.most_header_bytes = 4096, .most_body_bytes = 100'000};
  const auto endless = [](std::string_view begin, std::string_view more) {
    return [begin, more](const ScriptServer::Peer& peer, int) {
      for (bool goes_on = peer.Send(begin); goes_on;) goes_on = peer.Send(more);
    };
  };
  const std::string kilobyte(1024, 'x');
  const std::string chunk = absl::StrCat("400\r\n", kilobyte, "\r\n");
  const struct {
    std::string_view begin;
    std::string more;
  } cases[] = {{"HTTP/1.1 200 OK\r\nX: ", kilobyte},
               {"HTTP/1.1 200 OK\r\n", "A: b\r\n"},
               {"HTTP/1.1 200 OK\r\n", "HTTP/1.1: b\r\n"},
               {"HTTP/1.1 200 OK\r\n\r\n", kilobyte},
               {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk},
               {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", kilobyte},
               {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n"}};
  for (const auto& [begin, more] : cases) {
    const auto answer = AnswerOf(endless(begin, more), options);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kResourceExhausted) << begin << answer.status();
  }
  EXPECT_EQ(AnswerOf(endless("", "HTTP/1.1 100 Continue\r\n\r\n"), options).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(HttpClientFaults, ASlowServerIsLeft) {
  const auto silent = [](const ScriptServer::Peer& peer, int) { peer.ReceiveUntil("never"); };
  const auto drips = [](const ScriptServer::Peer& peer, int) {
    for (bool goes_on = peer.Send("HTTP/1.1 200 OK\r\n\r\n"); goes_on; goes_on = peer.Send("x"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  for (const auto& answer : {AnswerOf(silent, {.silent_seconds = 0.05}), AnswerOf(drips, {}, 0.1)}) {
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(answer.status().message(), HasSubstr("no answer in time"));
  }
}

TEST(HttpClientFaults, NobodyThereIsSaidSo) {
  std::string url;
  {
    const ScriptServer server([](const ScriptServer::Peer&, int) {});
    url = server.url();
  }
  const auto answer = ClientOf(url)->Send({});
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(answer.status().message(), AllOf(StartsWith(url), HasSubstr("cannot connect")));
}

TEST(HttpClientFaults, ACallIsCancelled) {
  Cancellation cancellation;
  const ScriptServer server([&](const ScriptServer::Peer& peer, int) {
    peer.ReceiveUntil("\r\n\r\n");
    cancellation.Cancel();
    peer.ReceiveUntil("never");
  });
  const auto client = ClientOf(server.url(), {.cancellation = &cancellation});
  EXPECT_EQ(client->Send({}).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace attune
