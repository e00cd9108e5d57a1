// Calls end when they are cancelled, and in time, whatever they wait for (for a name: names_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/cancel.h"
#include "base/testing/await_that.h"
#include "http/client/client.h"
#include "http/client/proxy_variables_for_test.h"
#include "http/client/script_server_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::LoopbackAddress;
using testing::ScriptServer;
using ::testing::StartsWith;

// Listens, but has no room for another connection.
class FullListener {
 public:
  FullListener()
      : listening_(::socket(AF_INET, SOCK_STREAM, 0)), connected_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at = LoopbackAddress(0);
    socklen_t size = sizeof(at);
    EXPECT_EQ(bind(listening_.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(listening_.get(), 0), 0);
    EXPECT_EQ(getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    EXPECT_EQ(connect(connected_.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
    port_ = ntohs(at.sin_port);
  }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }
  // Whether a client is trying to connect.
  bool IsTried() const {
    std::ifstream connections("/proc/self/net/tcp");
    // The other end of the connection, and the state SYN_SENT.
    const std::string wanted = absl::StrFormat(" 0100007F:%04X 02 ", port_);
    for (std::string line; std::getline(connections, line);)
      if (absl::StrContains(line, wanted)) return true;
    return false;
  }

 private:
  const FileDescriptor listening_, connected_;
  uint16_t port_ = 0;
};

class CancelledCallTest : public ::testing::Test {
 protected:
  ~CancelledCallTest() override { Release(); }

  // Makes a call that something cancels.
  void ExpectCancelled(const std::string& url, const HttpCall& call = {}) {
    const auto client = *HttpClient::Open(url, {.cancellation = &cancellation_});
    const auto answer = client->Send(call);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kCancelled) << answer.status();
    EXPECT_THAT(answer.status().message(), StartsWith(url));
    Release();
  }
  // Cancels the call, and keeps the connection open until the call has ended.
  void CancelAndHold() {
    cancellation_.Cancel();
    is_over_.get_future().wait();
  }
  void Release() {
    if (!std::exchange(is_released_, true)) is_over_.set_value();
  }
  static std::string Encrypted(const ScriptServer& server) {
    return absl::StrCat("https://127.0.0.1:", server.port());
  }

  Cancellation cancellation_;

 private:
  std::promise<void> is_over_;
  bool is_released_ = false;
};

TEST_F(CancelledCallTest, Connecting) {
  const FullListener listener;
  std::thread canceller([&] {
    testing::AwaitThat([&] { return listener.IsTried(); });
    cancellation_.Cancel();
  });
  ExpectCancelled(listener.url());
  canceller.join();
}

TEST_F(CancelledCallTest, AskingAProxy) {
  const ScriptServer proxy([&](const ScriptServer::Peer& peer, int) {
    EXPECT_THAT(peer.ReceiveUntil("\r\n\r\n"), StartsWith("CONNECT server.test:443 "));
    CancelAndHold();
  });
  const testing::ProxyVariables variables({{"https_proxy", proxy.url()}});
  ExpectCancelled("https://server.test");
}

TEST_F(CancelledCallTest, AgreeingOnKeys) {
  const ScriptServer server([&](const ScriptServer::Peer& peer, int) {
    peer.ReceiveUntil("\x16");  // the first byte of TLS
    CancelAndHold();
  });
  ExpectCancelled(Encrypted(server));
}

TEST_F(CancelledCallTest, SendingABody) {
  const ScriptServer server([&](const ScriptServer::Peer& peer, int) {
    peer.ReceiveUntil("\r\n\r\n");
    peer.Send("HTTP/1.1 100 Continue\r\n\r\n");
    peer.ReceiveUntil("x");
    CancelAndHold();
  });
  HttpCall call = {.method = "POST"};
  call.source = HttpBodySource{.bytes = int64_t{1} << 40, .read = [](std::span<char> buffer) {
                                 std::ranges::fill(buffer, 'x');
                                 return buffer.size();
                               }};
  ExpectCancelled(server.url(), call);
}

TEST_F(CancelledCallTest, WaitingForAnAnswer) {
  const ScriptServer server([&](const ScriptServer::Peer& peer, int) {
    peer.ReceiveUntil("\r\n\r\n");
    CancelAndHold();
  });
  ExpectCancelled(server.url());
}

TEST_F(CancelledCallTest, ReceivingABody) {
  const ScriptServer server([&](const ScriptServer::Peer& peer, int) {
    peer.ReceiveUntil("\r\n\r\n");
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
    CancelAndHold();
  });
  ExpectCancelled(server.url());
}

TEST_F(CancelledCallTest, ByItsOwnFunction) {
  const ScriptServer server([&](const ScriptServer::Peer& peer, int) {
    peer.ReceiveUntil("\r\n\r\n");
    for (bool goes_on = peer.Send("HTTP/1.1 200 OK\r\n\r\n"); goes_on;) goes_on = peer.Send("more");
  });
  HttpCall call;
  call.take = [&](const HttpAnswer&, std::string_view) {
    cancellation_.Cancel();
    return absl::OkStatus();
  };
  ExpectCancelled(server.url(), call);
}

TEST(CallsInTime, Connections) {
  const FullListener listener;
  const auto answer = (*HttpClient::Open(listener.url(), {.connect_seconds = 0.05}))->Send({});
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
  EXPECT_THAT(answer.status().message(), AllOf(StartsWith(listener.url()), HasSubstr("cannot connect")));
}

TEST(CallsInTime, Keys) {
  const ScriptServer silent([](const ScriptServer::Peer& peer, int) { peer.ReceiveUntil("never"); });
  const auto client =
      *HttpClient::Open(absl::StrCat("https://127.0.0.1:", silent.port()), {.connect_seconds = 0.05});
  const auto answer = client->Send({});
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
  EXPECT_THAT(answer.status().message(), HasSubstr("cannot connect"));
}

}  // namespace
}  // namespace attune
