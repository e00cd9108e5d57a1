#include "artifact/signer.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstring>

#include "artifact/encode.h"
#include "artifact/reader.h"
#include "base/file.h"
#include "base/free_with.h"
#include "base/sha256.h"
#include "base/status.h"

namespace attune {
namespace {

using KeyPointer = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using BioPointer = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using DigestPointer = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;

absl::Status Failed(const char* what) {
  ERR_clear_error();
  return InternalError("OpenSSL cannot ", what);
}

// OpenSSL must not ask for a password.
int NoPassword(char*, int, int, void*) { return -1; }

absl::StatusOr<Ed25519Key> PublicOf(const EVP_PKEY* key) {
  Ed25519Key raw = {};
  size_t bytes = raw.size();
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key, raw.data(), &bytes) != 1 || bytes != raw.size())
    return InvalidInput("is not a key of Ed25519; attune key create makes one");
  return raw;
}

template <typename Write>
absl::StatusOr<std::string> ToPem(const Write& write) {
  const BioPointer bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || write(bio.get()) != 1) return Failed("write a key");
  char* text = nullptr;
  const long bytes = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(bytes));
}

}  // namespace

absl::StatusOr<SigningKey> SigningKey::Own(EVP_PKEY* key) {
  std::shared_ptr<EVP_PKEY> owned(key, EVP_PKEY_free);
  ASSIGN_OR_RETURN(const Ed25519Key public_key, PublicOf(key));
  return SigningKey(std::move(owned), public_key);
}

absl::StatusOr<SigningKey> SigningKey::Generate() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  if (key == nullptr) return Failed("make a key");
  return Own(key);
}

absl::StatusOr<SigningKey> SigningKey::FromSeed(std::span<const uint8_t> seed) {
  EVP_PKEY* key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size());
  if (key == nullptr) return Failed("make a key from a seed");
  return Own(key);
}

absl::StatusOr<SigningKey> SigningKey::FromPem(std::string_view pem) {
  const BioPointer bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  EVP_PKEY* key = bio == nullptr ? nullptr : PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr);
  ERR_clear_error();
  if (key == nullptr) return InvalidInput("has no private key in PEM; attune key create makes one");
  return Own(key);
}

absl::StatusOr<std::string> SigningKey::Pem() const {
  return ToPem([this](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

absl::StatusOr<std::string> SigningKey::PublicPem() const {
  return ToPem([this](BIO* bio) { return PEM_write_bio_PUBKEY(bio, key_.get()); });
}

absl::StatusOr<Ed25519Signature> SigningKey::Sign(std::string_view text) const {
  const DigestPointer context(EVP_MD_CTX_new());
  Ed25519Signature signature = {};
  size_t bytes = signature.size();
  if (context == nullptr || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &bytes, reinterpret_cast<const uint8_t*>(text.data()),
                     text.size()) != 1)
    return Failed("sign");
  return signature;
}

absl::StatusOr<std::vector<Ed25519Key>> PublicKeysFromPem(std::string_view pem) {
  const BioPointer bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Ed25519Key> keys;
  while (bio != nullptr) {
    const KeyPointer key(PEM_read_bio_PUBKEY(bio.get(), nullptr, NoPassword, nullptr));
    if (key == nullptr) break;
    ASSIGN_OR_RETURN(const Ed25519Key raw, PublicOf(key.get()));
    keys.push_back(raw);
  }
  ERR_clear_error();
  if (keys.empty())
    return InvalidInput("has no public key in PEM; attune key create FILE writes one to FILE.pub");
  return keys;
}

absl::StatusOr<SignedArtifact> SignInParts(std::string_view file, const SigningKey& key) {
  ArtifactView view;
  const ArtifactError error = ParseArtifact(std::as_bytes(std::span(file)), &view);
  if (!error.ok()) return InvalidInput(error.message);
  const auto text_of = [](std::span<const std::byte> bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  Sha256 digest;
  digest.Add(text_of(view.unsigned_file.header));
  digest.Add(text_of(view.unsigned_file.rest));
  ASSIGN_OR_RETURN(const Ed25519Signature signature, key.Sign(SignedText(digest.Finish())));
  std::erase_if(view.signatures, [&](const ArtifactSignature& one) { return one.key == key.public_key(); });
  if (view.signatures.size() >= kMostSignatures)
    return InvalidInput("has ", kMostSignatures, " signatures already, which is the most");
  view.signatures.push_back({.key = key.public_key(), .signature = signature});
  SignedArtifact made = {.rest = text_of(view.unsigned_file.rest),
                         .signatures = EncodeSignatures(view.signatures)};
  format::Header header;
  format::Decoder(view.unsigned_file.header)(header);
  made.header = text_of(HeaderOfSize(header, header.file_bytes + made.signatures.size()));
  return made;
}

absl::StatusOr<std::string> SignArtifact(std::string_view file, const SigningKey& key) {
  ASSIGN_OR_RETURN(const SignedArtifact made, SignInParts(file, key));
  std::string text;
  text.reserve(made.header.size() + made.rest.size() + made.signatures.size());
  return std::move(text.append(made.header).append(made.rest).append(made.signatures));
}

}  // namespace attune
