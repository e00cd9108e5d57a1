// Signs artifacts, by Ed25519 (RFC 8032).
#ifndef ATTUNE_ARTIFACT_SIGNER_H_
#define ATTUNE_ARTIFACT_SIGNER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/signature.h"

struct evp_pkey_st;

namespace attune {

// A private key. Immutable; any number of threads may use it.
class SigningKey {
 public:
  static absl::StatusOr<SigningKey> Generate();
  // The one whose seed is these 32 bytes.
  static absl::StatusOr<SigningKey> FromSeed(std::span<const uint8_t> seed);
  // From PKCS #8 in PEM. Fails for a key of another kind.
  static absl::StatusOr<SigningKey> FromPem(std::string_view pem);

  absl::StatusOr<std::string> Pem() const;
  // The public key, for those who verify.
  absl::StatusOr<std::string> PublicPem() const;
  const Ed25519Key& public_key() const { return public_key_; }

  absl::StatusOr<Ed25519Signature> Sign(std::string_view text) const;

 private:
  SigningKey(std::shared_ptr<evp_pkey_st> key, const Ed25519Key& public_key)
      : key_(std::move(key)), public_key_(public_key) {}
  static absl::StatusOr<SigningKey> Own(evp_pkey_st* key);

  std::shared_ptr<evp_pkey_st> key_;
  Ed25519Key public_key_;
};

// The public keys of a text that has one or several in PEM. Fails if there is none, or one of another kind.
absl::StatusOr<std::vector<Ed25519Key>> PublicKeysFromPem(std::string_view pem);

// A signed file in parts, the largest of which belongs to the bytes that were signed.
struct SignedArtifact {
  std::string header = {};
  std::string_view rest = {};
  std::string signatures = {};
};

// The artifact's file with one more signature, in place of one by the same key. The same file and key give
// the same bytes. Fails, without naming a subject, if the bytes are no artifact's or have kMostSignatures
// others.
absl::StatusOr<SignedArtifact> SignInParts(std::string_view file, const SigningKey& key);
absl::StatusOr<std::string> SignArtifact(std::string_view file, const SigningKey& key);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_SIGNER_H_
