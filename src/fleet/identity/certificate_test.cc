#include "fleet/identity/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/testing/manual_clock.h"
#include "fleet/identity/openssl_objects.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr double kDay = 86400;
const FleetIdentity kBoard = {.role = FleetRole::kAgent, .owner = "ann", .id = "board-1"};

std::string RequestOfNewKey() { return *PrivateKey::Generate()->Request(); }

TEST(CertificateTest, SaysWhoSomebodyIs) {
  const auto authority = CertificateAuthority::Create();
  ASSERT_TRUE(authority.ok()) << authority.status();
  const auto pem = authority->Sign(RequestOfNewKey(), kBoard, 30 * kDay);
  ASSERT_TRUE(pem.ok()) << pem.status();
  const auto facts = ReadCertificate(*pem);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->who, kBoard);
  EXPECT_THAT(facts->serial, SizeIs(32));
  EXPECT_NEAR(static_cast<double>(facts->end_ms - facts->begin_ms), 1e3 * (30 * kDay + 300), 2e3);
  EXPECT_NE(ReadCertificate(*authority->Sign(RequestOfNewKey(), kBoard, kDay))->serial, facts->serial);
}

TEST(CertificateTest, OtherKeysThanOursAreNotSigned) {
  const auto authority = CertificateAuthority::Create();
  constexpr int kBits = 2048;
  EVP_PKEY* const keys[] = {EVP_RSA_gen(kBits), EVP_EC_gen("P-384"),
                            EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")};
  for (EVP_PKEY* key : keys) {
    X509_REQ* request = X509_REQ_new();
    X509_REQ_set_pubkey(request, key);
    const bool is_edwards = EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519;
    ASSERT_GT(X509_REQ_sign(request, key, is_edwards ? nullptr : EVP_sha256()), 0);
    const auto pem = ToPem([&](BIO* bio) { return PEM_write_bio_X509_REQ(bio, request); });
    EXPECT_TRUE(absl::IsInvalidArgument(authority->Sign(*pem, kBoard, kDay).status()));
    X509_REQ_free(request);
    EVP_PKEY_free(key);
  }
}

TEST(CertificateTest, OnlyItsAuthorityVouchesForIt) {
  const auto authority = CertificateAuthority::Create(), other = CertificateAuthority::Create();
  const std::string pem = *authority->Sign(RequestOfNewKey(), kBoard, kDay);
  EXPECT_TRUE(VerifyCertificate(pem, authority->certificate_pem()).ok());
  EXPECT_FALSE(VerifyCertificate(pem, other->certificate_pem()).ok());
  // A server's certificate names hosts.
  const std::string server = *authority->Sign(RequestOfNewKey(), {FleetRole::kServer, "ann", "server"}, kDay,
                                              {"localhost", "127.0.0.1", "::1"});
  EXPECT_TRUE(VerifyCertificate(server, authority->certificate_pem()).ok());
}

TEST(CertificateTest, AnyOfSeveralAuthoritiesMayVouchForIt) {
  // They have the same name, so only their keys tell them apart.
  const auto old = CertificateAuthority::Create(), next = CertificateAuthority::Create();
  const std::string both = old->certificate_pem() + next->certificate_pem();
  for (const auto* signer : {&*old, &*next})
    EXPECT_TRUE(VerifyCertificate(*signer->Sign(RequestOfNewKey(), kBoard, kDay), both).ok());
  EXPECT_FALSE(VerifyCertificate(*old->Sign(RequestOfNewKey(), kBoard, kDay), "").ok());
}

TEST(CertificateTest, SaysWhichAuthorityHasSignedIt) {
  ManualClock clock;
  const auto authority = CertificateAuthority::Create(clock), other = CertificateAuthority::Create();
  EXPECT_EQ(ReadCertificate(*authority->Sign(RequestOfNewKey(), kBoard, kDay))->authority, authority->id());
  EXPECT_NE(authority->id(), other->id());
  EXPECT_EQ(authority->created_ms(), clock.WallMillis());
  EXPECT_EQ(CertificateAuthority::Read(authority->certificate_pem(), *authority->key().Pem())->id(),
            authority->id());
}

TEST(CertificateTest, EndsWhenItShould) {
  const auto authority = CertificateAuthority::Create();
  ManualClock long_ago;
  const std::string ended = *authority->Sign(RequestOfNewKey(), kBoard, kDay, {}, long_ago);
  EXPECT_EQ(VerifyCertificate(ended, authority->certificate_pem()),
            absl::UnauthenticatedError("certificate has expired"));
}

TEST(CertificateTest, IsRenewedWhileAThirdOfItsTimeIsLeft) {
  const auto authority = CertificateAuthority::Create();
  const ManualClock clock;
  const auto facts = ReadCertificate(*authority->Sign(RequestOfNewKey(), kBoard, 30 * kDay, {}, clock));
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_NEAR(static_cast<double>(RenewalMillis(*facts) - clock.WallMillis()), 1e3 * 20 * kDay, 2e3);
}

TEST(CertificateTest, AnAuthorityIsReadAgain) {
  const auto authority = CertificateAuthority::Create();
  const auto read = CertificateAuthority::Read(authority->certificate_pem(), *authority->key().Pem());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(
      VerifyCertificate(*read->Sign(RequestOfNewKey(), kBoard, kDay), authority->certificate_pem()).ok());
  const auto other = CertificateAuthority::Create();
  EXPECT_THAT(
      std::string(
          CertificateAuthority::Read(authority->certificate_pem(), *other->key().Pem()).status().message()),
      HasSubstr("is not that of the certificate"));
}

TEST(CertificateTest, AFingerprintIsThatOfTheKey) {
  const auto authority = CertificateAuthority::Create();
  const auto key = PrivateKey::Generate();
  const std::string first = *authority->Sign(*key->Request(), kBoard, kDay);
  const std::string renewed = *authority->Sign(*key->Request(), kBoard, 2 * kDay);
  EXPECT_THAT(*KeyFingerprint(first), SizeIs(64));
  EXPECT_EQ(*KeyFingerprint(first), *KeyFingerprint(renewed));
  EXPECT_NE(*KeyFingerprint(first), *KeyFingerprint(authority->certificate_pem()));
}

TEST(CertificateTest, RefusesWhatIsDamagedOrForged) {
  const auto authority = CertificateAuthority::Create();
  std::string request = RequestOfNewKey();
  for (const std::string& bad :
       {std::string(), std::string("-----BEGIN CERTIFICATE REQUEST-----\n"),
        request.substr(0, request.size() / 2), std::string(1 << 20, 'A'), authority->certificate_pem()}) {
    EXPECT_FALSE(authority->Sign(bad, kBoard, kDay).ok());
    EXPECT_FALSE(PrivateKey::Read(bad).ok());
  }
  EXPECT_FALSE(ReadCertificate("nothing").ok());
  // The authority's own certificate says nothing of a role.
  EXPECT_FALSE(ReadCertificate(authority->certificate_pem()).ok());
}

TEST(CertificateTest, RefusesNamesThatCouldDeceive) {
  const auto authority = CertificateAuthority::Create();
  const std::string request = RequestOfNewKey();
  for (const char* name : {"", "a b", "a\nb", "ä", "a\x7f"}) {
    EXPECT_FALSE(authority->Sign(request, {FleetRole::kClient, name, "id"}, kDay).ok()) << name;
    EXPECT_FALSE(authority->Sign(request, {FleetRole::kClient, "ann", name}, kDay).ok()) << name;
  }
  EXPECT_FALSE(authority->Sign(request, {FleetRole::kClient, "ann", std::string(65, 'a')}, kDay).ok());
  for (const char* host : {"", "a,DNS:b", "a b", "evil\n"})
    EXPECT_FALSE(authority->Sign(request, {FleetRole::kServer, "ann", "server"}, kDay, {host}).ok()) << host;
}

}  // namespace
}  // namespace attune
