// Reaching a server through a proxy that the environment names. Names that end in .test are this machine
// (names_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "http/client/certified_for_test.h"
#include "http/client/client.h"
#include "http/client/proxy_variables_for_test.h"
#include "http/client/script_server_for_test.h"
#include "http/server.h"

namespace attune {
namespace {

using ::testing::AllOf;
using testing::Certified;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProxyVariables;
using testing::ScriptServer;
using ::testing::StartsWith;

constexpr char kForwarded[] = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nforwarded";

// Answers requests itself, and makes all tunnels to the same port.
class TestProxy {
 public:
  // `credentials`, "user:password", are required; empty: none are.
  explicit TestProxy(uint16_t port, std::string_view credentials = "")
      : server_([this, port, secret = absl::Base64Escape(credentials), is_open = credentials.empty()](
                    const ScriptServer::Peer& peer, int) {
          for (std::string head; !(head = peer.ReceiveUntil("\r\n\r\n")).empty();) {
            const bool may_ask =
                is_open ||
                absl::StrContains(head, absl::StrCat("Proxy-Authorization: Basic ", secret, "\r\n"));
            Note(head);
            if (!may_ask) {
              peer.Send(
                  "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n");
            } else if (head.starts_with("CONNECT ")) {
              peer.Send("HTTP/1.1 200 OK\r\n\r\n");
              return peer.RelayTo(port);
            } else {
              peer.Send(kForwarded);
            }
          }
        }) {}

  std::string Url(std::string_view credentials = "") const {
    return absl::StrCat("http://", credentials, credentials.empty() ? "" : "@", "127.0.0.1:", server_.port());
  }
  int connections() const { return server_.connections(); }
  // The first lines of all requests.
  std::vector<std::string> Lines() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::string> lines;
    for (const std::string& head : heads_) lines.push_back(head.substr(0, head.find("\r\n")));
    return lines;
  }
  std::string LastHead() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return heads_.empty() ? "" : heads_.back();
  }

 private:
  void Note(const std::string& head) {
    const std::lock_guard<std::mutex> lock(mutex_);
    heads_.push_back(head);
  }

  mutable std::mutex mutex_;
  std::vector<std::string> heads_;
  const ScriptServer server_;
};

// Has a server with TLS and one without.
class ProxyTest : public ::testing::Test {
 protected:
  ProxyTest() : server_(Start(true)), plain_(Start(false)) {}

  static uint16_t PortOf(const HttpServer& server) {
    const std::string address = server.address();
    return static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }
  std::string Url(std::string_view host = "server.test") const {
    return absl::StrCat("https://", host, ":", PortOf(*server_));
  }
  std::string PlainUrl(std::string_view host = "server.test") const {
    return absl::StrCat("http://", host, ":", PortOf(*plain_));
  }
  HttpTrust trust() const { return {.authorities_pem = authority_.Pem()}; }
  absl::StatusOr<HttpAnswer> Ask(const std::string& url, const HttpTrust& trust) {
    const auto client = *HttpClient::Open(url, {.trust = trust});
    absl::StatusOr<HttpAnswer> answer = client->Send({.target = "/", .headers = {{"Authorization", "mine"}}});
    if (answer.ok()) EXPECT_EQ(client->Send({.target = "/"})->body, answer->body);
    return answer;
  }
  absl::StatusOr<HttpAnswer> Ask(const std::string& url) { return Ask(url, trust()); }

  const Certified authority_{""};
  const Certified certified_{"DNS:server.test,DNS:localhost,IP:127.0.0.1", &authority_};
  const std::unique_ptr<HttpServer> server_, plain_;

 private:
  std::unique_ptr<HttpServer> Start(bool is_encrypted) const {
    HttpRouter router;
    router.Add({"GET", "/", [](const HttpRequest&) { return HttpResponse{.body = "hello"}; }});
    HttpServerOptions options = {.address = "127.0.0.1:0"};
    if (is_encrypted)
      options.tls = HttpTls{.chain_pem = certified_.Pem() + authority_.Pem(), .key_pem = certified_.KeyPem()};
    return *HttpServer::Start(options, std::move(router));
  }
};

TEST_F(ProxyTest, HttpsHasATunnel) {
  const TestProxy proxy(PortOf(*server_));
  const ProxyVariables variables({{"https_proxy", proxy.Url()}, {"http_proxy", "http://127.0.0.1:1"}});
  EXPECT_EQ(Ask(Url())->body, "hello");
  EXPECT_EQ(Ask(Url(), {.pinned_key = authority_.KeyDigest()})->body, "hello");
  EXPECT_EQ(Ask(Url(), {.pinned_key = certified_.KeyDigest()})->body, "hello");
  const std::string line = absl::StrCat("CONNECT server.test:", PortOf(*server_), " HTTP/1.1");
  EXPECT_THAT(proxy.Lines(), ElementsAre(line, line, line));
  EXPECT_THAT(proxy.LastHead(), Not(HasSubstr("mine")));
  // The server is verified behind the proxy, too.
  EXPECT_EQ(Ask(Url("other.test")).status().code(), absl::StatusCode::kUnauthenticated);
  const Certified other("");
  for (const HttpTrust& wrong :
       {HttpTrust{.authorities_pem = other.Pem()}, {.pinned_key = other.KeyDigest()}})
    EXPECT_EQ(Ask(Url(), wrong).status().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(ProxyTest, HttpIsForwarded) {
  const TestProxy proxy(PortOf(*server_));
  const ProxyVariables variables({{"http_proxy", proxy.Url()}, {"https_proxy", "http://127.0.0.1:1"}});
  EXPECT_EQ(Ask("http://server.test:81")->body, "forwarded");
  EXPECT_THAT(proxy.LastHead(), StartsWith("GET http://server.test:81/ HTTP/1.1\r\n"));
}

TEST_F(ProxyTest, OneVariableCanBeForBoth) {
  const TestProxy proxy(PortOf(*server_));
  for (const char* name : {"all_proxy", "ALL_PROXY"}) {
    const ProxyVariables variables({{name, proxy.Url()}});
    EXPECT_EQ(Ask(Url())->body, "hello");
    EXPECT_EQ(Ask("http://server.test")->body, "forwarded");
  }
}

TEST_F(ProxyTest, ServersThatNeedNoneAreReachedDirectly) {
  const TestProxy proxy(PortOf(*server_));
  for (const char* name : {"no_proxy", "NO_PROXY"})
    for (const char* hosts : {"server.test", "example.org,.test", "*"}) {
      const ProxyVariables variables({{"all_proxy", proxy.Url()}, {name, hosts}});
      EXPECT_EQ(Ask(Url())->body, "hello");
      EXPECT_EQ(Ask(PlainUrl())->body, "hello");
    }
  const ProxyVariables none({});
  EXPECT_EQ(Ask(Url())->body, "hello");
  EXPECT_EQ(proxy.connections(), 0);
  const ProxyVariables others({{"all_proxy", proxy.Url()}, {"no_proxy", "example.org"}});
  EXPECT_EQ(Ask(PlainUrl())->body, "forwarded");
}

TEST_F(ProxyTest, ThisMachineIsReachedDirectly) {
  const TestProxy proxy(PortOf(*server_));
  for (const char* no_proxy : {"", "example.org"}) {
    const ProxyVariables variables({{"http_proxy", proxy.Url()},
                                    {"https_proxy", proxy.Url()},
                                    {"all_proxy", proxy.Url()},
                                    {"no_proxy", no_proxy}});
    for (const char* host : {"127.0.0.1", "localhost"}) {
      EXPECT_EQ(Ask(Url(host))->body, "hello");
      EXPECT_EQ(Ask(PlainUrl(host))->body, "hello");
    }
  }
  EXPECT_EQ(proxy.connections(), 0);
}

TEST_F(ProxyTest, AProxyMayRequireCredentials) {
  const TestProxy proxy(PortOf(*server_), "somebody:a secret");
  {
    const ProxyVariables variables({{"all_proxy", proxy.Url("somebody:a%20secret")}});
    EXPECT_EQ(Ask(Url())->body, "hello");
    const auto forwarded = Ask("http://server.test");
    ASSERT_TRUE(forwarded.ok()) << forwarded.status();
    EXPECT_EQ(forwarded->status, 200);
    EXPECT_EQ(forwarded->body, "forwarded");
    // The answer in which the proxy asks for credentials is not part of the server's.
    EXPECT_EQ(forwarded->Header("proxy-authenticate"), "");
  }
  for (const char* credentials : {"", "somebody:else"}) {
    const ProxyVariables variables({{"https_proxy", proxy.Url(credentials)}});
    const auto refused = Ask(Url());
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable) << refused.status();
    EXPECT_THAT(refused.status().message(),
                AllOf(StartsWith(Url()), HasSubstr("cannot connect"), HasSubstr("407")));
  }
}

TEST_F(ProxyTest, AProxyThatIsAwayOrRefusesIsAnError) {
  std::string gone;
  {
    const ScriptServer server([](const ScriptServer::Peer&, int) {});
    gone = server.url();
  }
  const ScriptServer refuses([](const ScriptServer::Peer& peer, int) {
    peer.ReceiveUntil("\r\n\r\n");
    peer.Send("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
  });
  for (const std::string& proxy : {gone, refuses.url()}) {
    const ProxyVariables variables({{"https_proxy", proxy}});
    const auto answer = Ask(Url());
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
    EXPECT_THAT(answer.status().message(), AllOf(StartsWith(Url()), HasSubstr("cannot connect")));
  }
}

}  // namespace
}  // namespace attune
