#include "fleet/identity/pinned_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/testing/manual_clock.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/openssl_objects.h"
#include "fleet/identity/pem_file.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr double kDay = 86400;
constexpr double kMostSeconds = 1e6;  // for those who answer

// Accepts one connection on a free port, in a thread of its own, and hands it to `serve`.
class Server {
 public:
  explicit Server(std::function<void(int)> serve, const std::string& host = "127.0.0.1") {
    addrinfo hints = {};
    hints.ai_flags = AI_NUMERICHOST;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* at = nullptr;
    EXPECT_EQ(getaddrinfo(host.c_str(), "0", &hints, &at), 0);
    listener_ = FileDescriptor(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    listens_ = bind(listener_.get(), at->ai_addr, at->ai_addrlen) == 0 && listen(listener_.get(), 1) == 0 &&
               getsockname(listener_.get(), at->ai_addr, &at->ai_addrlen) == 0;
    std::array<char, 16> port = {};
    EXPECT_EQ(getnameinfo(at->ai_addr, at->ai_addrlen, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV),
              0);
    freeaddrinfo(at);
    address_ = (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port.data();
    thread_ = std::thread([this, serve_it = std::move(serve)] {
      const FileDescriptor connection(accept(listener_.get(), nullptr, nullptr));
      if (connection.get() >= 0) serve_it(connection.get());
    });
  }
  ~Server() { Stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  bool listens() const { return listens_; }
  const std::string& address() const { return address_; }
  // Waits until the connection has been served; without one, stops to wait for it.
  void Stop() {
    shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    listener_.Close();
  }

 private:
  FileDescriptor listener_;
  bool listens_ = false;
  std::string address_;
  std::thread thread_;
};

void ReadToEnd(int connection) {
  std::array<char, 256> bytes;
  while (recv(connection, bytes.data(), bytes.size(), 0) > 0) continue;
}

// Insists on HTTP/2, as servers of gRPC do.
int ChooseHttp2(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                unsigned int size, void*) {
  constexpr std::array<unsigned char, 3> kHttp2 = {2, 'h', '2'};
  unsigned char* choice = nullptr;
  const int result = SSL_select_next_proto(&choice, chosen_size, kHttp2.data(), kHttp2.size(), offered, size);
  *chosen = choice;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

struct Shown {
  std::string chain_pem;  // the server's own certificate first
  std::string key_pem;
};

// Shows certificates over TLS, and returns what the client sends after the handshake.
std::string ShowCertificates(const Shown& shown, int connection) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_set_alpn_select_cb(context, ChooseHttp2, nullptr);
  SSL_CTX_set_num_tickets(context, 0);  // the client may be gone by then, which would raise SIGPIPE
  const std::vector<std::string> chain = SplitPem(shown.chain_pem)->certificates;
  EXPECT_EQ(SSL_CTX_use_certificate(context, ParseCertificate(chain.front())->get()), 1);
  for (size_t i = 1; i < chain.size(); ++i)
    EXPECT_EQ(SSL_CTX_add1_chain_cert(context, ParseCertificate(chain[i])->get()), 1);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(ReadingBio(shown.key_pem).get(), nullptr, NoPassword, nullptr);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context, key), 1);
  EVP_PKEY_free(key);
  SSL* tls = SSL_new(context);
  SSL_set_fd(tls, connection);
  EXPECT_EQ(SSL_accept(tls), 1);
  std::array<char, 256> bytes;
  const int count = SSL_read(tls, bytes.data(), bytes.size());
  SSL_free(tls);
  SSL_CTX_free(context);
  return std::string(bytes.data(), static_cast<size_t>(std::max(count, 0)));
}

class PinnedServerTest : public ::testing::Test {
 protected:
  Shown SignedBy(const CertificateAuthority& signer, FleetRole role = FleetRole::kServer,
                 const Clock& clock = SystemClock()) const {
    const auto key = PrivateKey::Generate();
    const FleetIdentity who = {.role = role, .owner = "fleet", .id = "server"};
    return {.chain_pem = *signer.Sign(*key->Request(), who, kDay, {"localhost"}, clock),
            .key_pem = *key->Pem()};
  }
  absl::StatusOr<std::string> Ask(const std::string& address, double seconds = kMostSeconds) const {
    return AuthorityOf(*Invitation::New(address, *KeyFingerprint(authority_->certificate_pem())), seconds);
  }
  // Asks a server that shows these certificates.
  absl::StatusOr<std::string> AskWhoShows(const Shown& shown) const {
    std::string received;
    Server server([&](int connection) { received = ShowCertificates(shown, connection); });
    const absl::StatusOr<std::string> answer = Ask(server.address());
    server.Stop();
    EXPECT_THAT(received, IsEmpty());
    return answer;
  }
  static std::string Message(const absl::StatusOr<std::string>& answer) {
    return std::string(answer.status().message());
  }

  const absl::StatusOr<CertificateAuthority> authority_ = CertificateAuthority::Create();
  const absl::StatusOr<CertificateAuthority> other_ = CertificateAuthority::Create();
};

TEST_F(PinnedServerTest, FindsTheAuthorityOfTheInvitation) {
  Shown shown = SignedBy(*authority_);
  shown.chain_pem += authority_->certificate_pem();
  const auto answer = AskWhoShows(shown);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, authority_->certificate_pem());
  // Other certificates may stand between them.
  shown.chain_pem =
      SplitPem(shown.chain_pem)->certificates[0] + other_->certificate_pem() + authority_->certificate_pem();
  EXPECT_TRUE(AskWhoShows(shown).ok());
}

TEST_F(PinnedServerTest, MembersAreToldThatTheAuthorityWasReplaced) {
  const auto look = [&](const CertificateAuthority& signer) {
    const Shown shown = SignedBy(signer);
    const Server server([&](int connection) { ShowCertificates(shown, connection); });
    return CheckServerIsKnown(server.address(), authority_->certificate_pem(), kMostSeconds);
  };
  EXPECT_TRUE(look(*authority_).ok());
  const absl::Status replaced = look(*other_);
  EXPECT_EQ(replaced.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(replaced.message()), HasSubstr("enrol again"));
  // A server without an answer is not another server.
  EXPECT_TRUE(CheckServerIsKnown("127.0.0.1:1", authority_->certificate_pem(), kMostSeconds).ok());
}

TEST_F(PinnedServerTest, AWrongClockIsNoOtherAuthority) {
  ManualClock ahead;
  ahead.JumpWall(static_cast<double>(SystemClock().WallMillis()) / 1000 + kDay);
  Shown shown = SignedBy(*authority_, FleetRole::kServer, ahead);
  absl::Status known;
  {
    const Server server([&](int connection) { ShowCertificates(shown, connection); });
    known = CheckServerIsKnown(server.address(), authority_->certificate_pem(), kMostSeconds);
  }
  EXPECT_EQ(known.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(known.message()), HasSubstr("is a clock wrong?"));
  shown.chain_pem += authority_->certificate_pem();
  EXPECT_THAT(Message(AskWhoShows(shown)), HasSubstr("is a clock wrong?"));
  // The member's own certificate may be the one.
  const absl::Status own = ExplainLostServer({.server = "127.0.0.1:1",
                                              .authorities_pem = authority_->certificate_pem(),
                                              .certificate_pem = SplitPem(shown.chain_pem)->certificates[0]},
                                             kMostSeconds);
  EXPECT_THAT(std::string(own.message()), HasSubstr("is a clock wrong?"));
}

TEST_F(PinnedServerTest, TakesAddressesOfIpv6) {
  Shown shown = SignedBy(*authority_);
  shown.chain_pem += authority_->certificate_pem();
  const Server server([&](int connection) { ShowCertificates(shown, connection); }, "::1");
  if (!server.listens()) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_THAT(server.address(), StartsWith("[::1]:"));
  EXPECT_TRUE(Ask(server.address()).ok());
}

TEST_F(PinnedServerTest, RefusesAnotherAuthority) {
  Shown shown = SignedBy(*other_);
  EXPECT_THAT(Message(AskWhoShows(shown)), HasSubstr("ask for a new invitation"));
  shown.chain_pem += other_->certificate_pem();
  const auto answer = AskWhoShows(shown);
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(Message(answer), AllOf(StartsWith("another server answers at 127.0.0.1:"),
                                     HasSubstr("ask for a new invitation")));
}

TEST_F(PinnedServerTest, RefusesAServerThatOnlyShowsTheAuthority) {
  Shown shown = SignedBy(*other_);
  shown.chain_pem += authority_->certificate_pem() + other_->certificate_pem();
  const auto answer = AskWhoShows(shown);
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(Message(answer), HasSubstr("does not vouch for this server"));
}

TEST_F(PinnedServerTest, RefusesTheFleetsOwnWhereTheyAreNoServer) {
  for (const FleetRole role : {FleetRole::kAgent, FleetRole::kClient, FleetRole::kOperator}) {
    Shown shown = SignedBy(*authority_, role);
    shown.chain_pem += authority_->certificate_pem();
    EXPECT_THAT(Message(AskWhoShows(shown)), HasSubstr("its role is " + std::string(Name(role))));
  }
}

TEST_F(PinnedServerTest, RefusesAServerWhoseCertificateHasEnded) {
  const ManualClock long_ago;
  Shown shown = SignedBy(*authority_, FleetRole::kServer, long_ago);
  shown.chain_pem += authority_->certificate_pem();
  EXPECT_THAT(Message(AskWhoShows(shown)), HasSubstr("certificate has expired"));
}

TEST_F(PinnedServerTest, WaitsOnlySoLongForOneThatIsSilent) {
  const Server silent(ReadToEnd);
  EXPECT_EQ(Ask(silent.address(), 0.1).status(),
            absl::DeadlineExceededError(silent.address() + ": no answer in time"));
}

TEST_F(PinnedServerTest, WaitsOnlySoLongForOneThatIsSlow) {
  // Begins a record of TLS that never ends.
  const Server slow([](int connection) {
    constexpr std::string_view kBegin = "\x16\x03\x03\x40";
    send(connection, kBegin.data(), kBegin.size(), MSG_NOSIGNAL);
    while (send(connection, "\0", 1, MSG_NOSIGNAL) == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  EXPECT_EQ(Ask(slow.address(), 0.2).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(PinnedServerTest, SaysThatNobodyListens) {
  Server server(ReadToEnd);
  server.Stop();
  const auto answer = Ask(server.address());
  EXPECT_EQ(answer.status(),
            absl::UnavailableError(server.address() + ": cannot connect: Connection refused"));
}

TEST_F(PinnedServerTest, SaysThatNoTlsIsSpoken) {
  const Server web([](int connection) {
    constexpr std::string_view kAnswer = "HTTP/1.1 400 Bad Request\r\n\r\n";
    send(connection, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    ReadToEnd(connection);
  });
  EXPECT_THAT(Message(Ask(web.address())), StartsWith(web.address() + ": does not speak TLS"));
  const Server closes([](int) {});
  EXPECT_THAT(Message(Ask(closes.address())), StartsWith(closes.address() + ": closes the connection"));
}

TEST_F(PinnedServerTest, RefusesWhatIsNoAddress) {
  for (const char* bad :
       {"", "host", "host:", ":1", "::1:9443", "[]:1", "127.0.0.1:x", "127.0.0.1:99999999"}) {
    const auto answer = Ask(bad);
    EXPECT_FALSE(answer.ok()) << bad;
    EXPECT_THAT(Message(answer), StartsWith(std::string(bad) + ": "));
  }
}

}  // namespace
}  // namespace attune
