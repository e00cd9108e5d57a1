// A client that reaches its server by https, and who vouches for that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "http/client/client.h"
#include "http/client/script_server_for_test.h"
#include "http/server.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A key and its certificate, made for a test. Authorities sign others.
class Certified {
 public:
  // `names`: as in subjectAltName; empty: an authority. A null issuer: it signs itself.
  explicit Certified(const std::string& names, const Certified* issuer = nullptr, bool is_expired = false)
      : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), certificate_(X509_new(), X509_free) {
    constexpr long kDay = 86'400;
    X509_set_version(certificate_.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_.get()), issuer == nullptr ? 1 : 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), -2 * kDay);
    X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), is_expired ? -kDay : kDay);
    X509_set_pubkey(certificate_.get(), key_.get());
    // Nobody takes one issuer for another.
    const std::string name = KeyDigest();
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate_.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.data()),
                               static_cast<int>(name.size()), -1, 0);
    const Certified& by = issuer == nullptr ? *this : *issuer;
    X509_set_issuer_name(certificate_.get(), X509_get_subject_name(by.certificate_.get()));
    Extend(NID_basic_constraints, names.empty() ? "critical,CA:TRUE" : "CA:FALSE");
    if (!names.empty()) Extend(NID_subject_alt_name, names);
    X509_sign(certificate_.get(), by.key_.get(), EVP_sha256());
  }

  std::string Pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_X509(bio.get(), certificate_.get());
    return TextOf(bio.get());
  }
  std::string KeyPem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return TextOf(bio.get());
  }
  std::string KeyDigest() const {
    unsigned char* bytes = nullptr;
    const int size = i2d_PUBKEY(key_.get(), &bytes);
    std::string digest = Sha256Hex({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
    OPENSSL_free(bytes);
    return digest;
  }

 private:
  static std::string TextOf(BIO* bio) {
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio, &text);
    return {text, static_cast<size_t>(size)};
  }
  void Extend(int what, const std::string& value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
    X509_add_ext(certificate_.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  const std::unique_ptr<X509, decltype(&X509_free)> certificate_;
};

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
