#include "runtime/signature_check.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/joined.h"
#include "runtime/sha256.h"

namespace attune {
namespace {

// The functions of libcrypto, with the types of its headers: EVP_PKEY and EVP_MD_CTX are opaque, and NULL
// stands for what is not given. All of them are the same from OpenSSL 1.1.1 on.
struct Crypto {
  void* (*new_raw_public_key)(int type, void* engine, const uint8_t* key, size_t bytes) = nullptr;
  void (*free_key)(void* key) = nullptr;
  void* (*new_context)() = nullptr;
  void (*free_context)(void* context) = nullptr;
  int (*verify_init)(void* context, void** key_context, const void* digest, void* engine,
                     void* key) = nullptr;
  int (*verify)(void* context, const uint8_t* signature, size_t signature_bytes, const uint8_t* text,
                size_t text_bytes) = nullptr;

  bool is_whole() const {
    return new_raw_public_key != nullptr && free_key != nullptr && new_context != nullptr &&
           free_context != nullptr && verify_init != nullptr && verify != nullptr;
  }
};

constexpr int kEd25519 = 1087;  // NID_ED25519

template <typename Function>
void Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

// It stays loaded, as libraries may that start threads or handlers of their own.
Crypto Load() {
  Crypto crypto;
  for (const char* name : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    Find(library, "EVP_PKEY_new_raw_public_key", crypto.new_raw_public_key);
    Find(library, "EVP_PKEY_free", crypto.free_key);
    Find(library, "EVP_MD_CTX_new", crypto.new_context);
    Find(library, "EVP_MD_CTX_free", crypto.free_context);
    Find(library, "EVP_DigestVerifyInit", crypto.verify_init);
    Find(library, "EVP_DigestVerify", crypto.verify);
    if (crypto.is_whole()) return crypto;
  }
  return {};
}

std::string IdsOf(std::span<const ArtifactSignature> signatures) {
  std::string ids;
  for (const ArtifactSignature& one : signatures) ids += (ids.empty() ? "" : ", ") + KeyId(one.key);
  return ids;
}

}  // namespace

std::optional<bool> Verifies(const ArtifactSignature& signature, std::string_view text) {
  static const Crypto crypto = Load();
  if (!crypto.is_whole()) return std::nullopt;
  void* key = crypto.new_raw_public_key(kEd25519, nullptr, signature.key.data(), signature.key.size());
  void* context = crypto.new_context();
  const bool is_right = key != nullptr && context != nullptr &&
                        crypto.verify_init(context, nullptr, nullptr, nullptr, key) == 1 &&
                        crypto.verify(context, signature.signature.data(), signature.signature.size(),
                                      reinterpret_cast<const uint8_t*>(text.data()), text.size()) == 1;
  crypto.free_context(context);
  crypto.free_key(key);
  return is_right;
}

RuntimeStatus CheckSignatures(const UnsignedArtifact& file, std::span<const ArtifactSignature> signatures,
                              std::span<const Ed25519Key> trusted) {
  if (signatures.empty()) {
    return {ATTUNE_NOT_TRUSTED,
            "is not signed, and only what a trusted key has signed may run; sign it with attune sign, or "
            "compile it with --sign"};
  }
  std::string text;
  for (const ArtifactSignature& one : signatures) {
    if (std::find(trusted.begin(), trusted.end(), one.key) == trusted.end()) continue;
    if (text.empty()) text = SignedText(RuntimeSha256Hex(file.header, file.rest));
    const std::optional<bool> is_right = Verifies(one, text);
    if (!is_right.has_value()) {
      return {
          ATTUNE_NOT_TRUSTED,
          "is signed, but signatures cannot be verified here: there is no libcrypto.so.3; install OpenSSL "
          "(Debian: libssl3)"};
    }
    if (*is_right) return {};
    return {
        ATTUNE_NOT_TRUSTED,
        Joined({"was altered after the key ", KeyId(one.key),
                " signed it: the signature is not that of this file; get the file again from its author"})};
  }
  return {ATTUNE_NOT_TRUSTED,
          Joined({"is signed by ", IdsOf(signatures),
                  ", which is not a trusted key; trust that key too if you trust its owner, "
                  "since the file is native code"})};
}

}  // namespace attune
