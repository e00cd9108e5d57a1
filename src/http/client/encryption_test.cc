// A client that reaches its server by https, and who vouches for that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/testing/temporary_folder.h"
#include "http/client/certified_for_test.h"
#include "http/client/client.h"
#include "http/client/script_server_for_test.h"
#include "http/server.h"

namespace attune {
namespace {

using ::testing::AllOf;
using testing::Certified;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EncryptedClientTest : public ::testing::Test {
 protected:
  absl::StatusOr<HttpAnswer> Ask(const Certified& server, const HttpTrust& trust,
                                 const std::string& host = "127.0.0.1") {
    HttpRouter router;
    router.Add({"GET", "/", [](const HttpRequest&) { return HttpResponse{.body = "hello"}; }});
    const auto started = *HttpServer::Start(
        {.address = "127.0.0.1:0",
         .tls = HttpTls{.chain_pem = server.Pem() + authority_.Pem(), .key_pem = server.KeyPem()}},
        std::move(router));
    const std::string address = started->address();
    const auto client = HttpClient::Open(absl::StrCat("https://", host, address.substr(address.rfind(':'))),
                                         {.trust = trust});
    if (!client.ok()) return client.status();
    absl::StatusOr<HttpAnswer> first = (*client)->Send({});
    if (first.ok()) EXPECT_EQ((*client)->Send({})->body, "hello");
    return first;
  }
  void ExpectRefused(const Certified& server, const HttpTrust& trust, const std::string& host = "127.0.0.1") {
    const auto answer = Ask(server, trust, host);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnauthenticated) << answer.status();
    EXPECT_THAT(answer.status().message(),
                AllOf(StartsWith("https://"), HasSubstr("no trusted authority vouches")));
  }

  const Certified authority_{""}, other_{""};
  const Certified server_{"IP:127.0.0.1,DNS:localhost", &authority_};
  const Certified elsewhere_{"DNS:elsewhere", &authority_};
  const Certified expired_{"IP:127.0.0.1", &authority_, /*is_expired=*/true};
};

TEST_F(EncryptedClientTest, AnAuthorityOfChoiceVouches) {
  const HttpTrust trust = {.authorities_pem = other_.Pem() + authority_.Pem()};
  EXPECT_EQ(Ask(server_, trust)->body, "hello");
  EXPECT_EQ(Ask(server_, trust, "localhost")->body, "hello");
  ExpectRefused(elsewhere_, trust);
  ExpectRefused(expired_, trust);
  ExpectRefused(server_, {.authorities_pem = other_.Pem()});
  ExpectRefused(server_, {});  // the system's authorities do not know it
}

TEST_F(EncryptedClientTest, TheEnvironmentCanNameTheSystemsAuthorities) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "authorities.pem") << authority_.Pem();
  const char* before = std::getenv("SSL_CERT_FILE");
  const std::string kept = before == nullptr ? "" : before;
  setenv("SSL_CERT_FILE", (folder / "authorities.pem").c_str(), /*overwrite=*/1);
  EXPECT_EQ(Ask(server_, {})->body, "hello");
  ExpectRefused(elsewhere_, {});
  // They do not vouch beside given ones.
  ExpectRefused(server_, {.authorities_pem = other_.Pem()});
  before == nullptr ? unsetenv("SSL_CERT_FILE") : setenv("SSL_CERT_FILE", kept.c_str(), /*overwrite=*/1);
}

TEST_F(EncryptedClientTest, APinnedAuthorityVouchesAlone) {
  const HttpTrust trust = {.pinned_key = authority_.KeyDigest()};
  EXPECT_EQ(Ask(server_, trust)->body, "hello");
  ExpectRefused(elsewhere_, trust);
  ExpectRefused(expired_, trust);
  ExpectRefused(server_, {.pinned_key = other_.KeyDigest()});
  // It shows the pinned authority, which has not signed it.
  ExpectRefused(Certified("IP:127.0.0.1", &other_), trust);
}

TEST_F(EncryptedClientTest, AServersOwnKeyIsPinned) {
  EXPECT_EQ(Ask(server_, {.pinned_key = server_.KeyDigest()})->body, "hello");
  EXPECT_EQ(Ask(elsewhere_, {.pinned_key = elsewhere_.KeyDigest()})->body, "hello");
  ExpectRefused(expired_, {.pinned_key = expired_.KeyDigest()});
  EXPECT_EQ(TrustInKeyOf(server_.Pem() + authority_.Pem())->pinned_key, server_.KeyDigest());
  EXPECT_THAT(TrustInKeyOf("no PEM").status().message(), HasSubstr("does not begin with a certificate"));
}

TEST_F(EncryptedClientTest, TrustThatIsNoneIsRefused) {
  for (const HttpTrust& trust : {HttpTrust{.authorities_pem = "no PEM"}, HttpTrust{.pinned_key = "abc"}})
    EXPECT_EQ(Ask(server_, trust).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(EncryptedClientTest, AServerWithoutTlsIsToldApart) {
  const testing::ScriptServer plain([](const testing::ScriptServer::Peer& peer, int) {
    peer.Send("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.ReceiveUntil("never");
  });
  const auto client = *HttpClient::Open("https" + plain.url().substr(4));
  const auto answer = client->Send({});
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kFailedPrecondition) << answer.status();
  EXPECT_THAT(answer.status().message(), HasSubstr("speaks no TLS"));
}

}  // namespace
}  // namespace attune
