// Certificates of a fleet: the identities of its members, signed by the fleet's authority.
//
// Problem: devices, users and the server talk over networks that anyone may listen on or speak into. Idea:
// each member has a key of its own, and a certificate in which the authority has signed the member's
// identity, so that TLS proves it at each connection. Price: the authority's key must be kept, and
// certificates end and are renewed.
#ifndef ATTUNE_FLEET_IDENTITY_CERTIFICATE_H_
#define ATTUNE_FLEET_IDENTITY_CERTIFICATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"

typedef struct evp_pkey_st EVP_PKEY;
typedef struct x509_st X509;

namespace attune {

enum class FleetRole : uint8_t { kServer, kAgent, kClient, kOperator, kRunner };
// "server", "agent", "client", "operator", "runner".
std::string_view Name(FleetRole role);
absl::StatusOr<FleetRole> FleetRoleNamed(std::string_view name);

struct FleetIdentity {
  FleetRole role = FleetRole::kClient;
  std::string owner = {};  // whose work it gives, or whose device it has
  std::string id = {};     // differs from all others of the fleet

  bool operator==(const FleetIdentity&) const = default;
};

// Checks that owner and id have 1 to 64 printable characters, which certificates can hold.
absl::Status CheckFleetIdentity(const FleetIdentity& who);

struct CertificateFacts {
  FleetIdentity who;
  std::string serial = {};           // hexadecimal; no two certificates of an authority have the same
  int64_t begin_ms = 0, end_ms = 0;  // since 1970, UTC
  std::string authority = {};        // the id() of the authority that has signed it
};

// The reason why a member may not stay connected; ok: it may.
using MemberRefusal = std::function<absl::Status(const CertificateFacts&)>;
inline absl::Status CertificateIsRevoked() {
  return absl::PermissionDeniedError("the certificate was revoked");
}

// Reads a certificate (PEM) without verifying it, which TLS does. Fails if it is not like those of Sign().
absl::StatusOr<CertificateFacts> ReadCertificate(std::string_view pem);

// Unavailable, with both times, if the certificate (PEM) counts only later: then a clock is wrong, here or
// where it was made.
absl::Status CheckHasBegun(std::string_view certificate_pem, const Clock& clock);

// The time (ms since 1970) at which Sign() has made it.
int64_t IssuedMillis(const CertificateFacts& facts);

// The time (ms since 1970) from which Sign()'s certificate should be renewed: two thirds of its time have
// then passed, and a third is left for a server that is away.
int64_t RenewalMillis(const CertificateFacts& facts);

// A private key on the curve P-256. Movable. Thread safe.
class PrivateKey {
 public:
  static absl::StatusOr<PrivateKey> Generate();
  static absl::StatusOr<PrivateKey> Read(std::string_view pem);

  // PKCS #8. Keep it in a file that only its owner can read.
  absl::StatusOr<std::string> Pem() const;
  // A request to sign this key (PKCS #10, PEM), which proves that the sender has it. Does not contain the
  // identity: the authority adds that.
  absl::StatusOr<std::string> Request() const;
  // Fails if the certificate is for another key.
  absl::Status CheckIsKeyOf(std::string_view certificate_pem) const;

 private:
  friend class CertificateAuthority;
  struct Free {
    void operator()(EVP_PKEY* key) const;
  };
  explicit PrivateKey(EVP_PKEY* key) : key_(key) {}

  std::unique_ptr<EVP_PKEY, Free> key_;
};

// The authority of a fleet. Movable. Thread safe.
class CertificateAuthority {
 public:
  // A new one, whose own certificate is valid for ten years.
  static absl::StatusOr<CertificateAuthority> Create(const Clock& clock = SystemClock());
  static absl::StatusOr<CertificateAuthority> Read(std::string_view certificate_pem,
                                                   std::string_view key_pem);

  const std::string& certificate_pem() const { return pem_; }
  const PrivateKey& key() const { return key_; }
  // Identifies its key: hexadecimal.
  const std::string& id() const { return id_; }
  // When it was made; ms since 1970, UTC.
  int64_t created_ms() const { return created_ms_; }

  // A certificate (PEM) for the key of the request, which is valid from five minutes ago, since clocks
  // differ, to `seconds` from now. `hosts` are the names and addresses that a server is reached by. Fails if
  // the request is damaged or not signed by its key.
  absl::StatusOr<std::string> Sign(std::string_view request_pem, const FleetIdentity& who, double seconds,
                                   const std::vector<std::string>& hosts = {},
                                   const Clock& clock = SystemClock()) const;

 private:
  struct Free {
    void operator()(X509* certificate) const;
  };
  explicit CertificateAuthority(PrivateKey key) : key_(std::move(key)) {}
  // The authority with this key and certificate, which belong together.
  static absl::StatusOr<CertificateAuthority> Of(PrivateKey key, std::string certificate_pem);

  PrivateKey key_;
  std::unique_ptr<X509, Free> certificate_;
  std::string pem_, id_;
  int64_t created_ms_ = 0;
};

// Verifies that one of the authorities (PEM, one after the other) has signed the certificate, and that both
// are in date by the system's clock, as TLS does. Unauthenticated, with the reason, if not.
absl::Status VerifyCertificate(std::string_view certificate_pem, std::string_view authorities_pem);

// The SHA-256 of a certificate's public key as 64 hexadecimal digits: it stays if the certificate is renewed.
absl::StatusOr<std::string> KeyFingerprint(std::string_view certificate_pem);

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_CERTIFICATE_H_
