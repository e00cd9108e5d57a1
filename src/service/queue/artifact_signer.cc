#include "service/queue/artifact_signer.h"

#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/sha256.h"
#include "base/state_file.h"
#include "base/status.h"
#include "measure/blob.h"

namespace attune {
namespace {

constexpr size_t kMostSecrets = 16;
constexpr int64_t kMostBytes = 1 << 14;
constexpr size_t kPieceBytes = size_t{1} << 20;

using Secret = Ed25519Key;  // 32 bytes, written as 64 digits

absl::StatusOr<std::vector<Secret>> ReadSecrets(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadStateFile(path, kMostBytes));
  std::vector<Secret> secrets;
  for (const std::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::optional<Secret> secret = KeyFromHex(line);
    if (!secret) return InvalidInput(path, ": is damaged; restore it from a backup");
    secrets.push_back(*secret);
  }
  if (secrets.empty()) return InvalidInput(path, ": is empty; restore it from a backup");
  return secrets;
}

absl::Status WriteSecrets(const std::string& path, const std::vector<Secret>& secrets) {
  std::string text;
  for (const Secret& secret : secrets) absl::StrAppend(&text, KeyHex(secret), "\n");
  return WriteStateFile(path, text);
}

absl::StatusOr<Secret> NewSecret() {
  Secret secret = {};
  if (RAND_bytes(secret.data(), static_cast<int>(secret.size())) != 1)
    return absl::ResourceExhaustedError("the system has no random bytes");
  return secret;
}

absl::StatusOr<SigningKey> KeyFor(const Secret& secret, const std::string& tenant) {
  const std::string text = absl::StrCat("attune signing key of ", tenant);
  std::array<uint8_t, 32> seed = {};
  unsigned int bytes = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const uint8_t*>(text.data()), text.size(), seed.data(), &bytes) == nullptr)
    return InternalError("OpenSSL cannot derive a key");
  return SigningKey::FromSeed(seed);
}

absl::Status Append(BlobStore& store, const std::string& owner, const std::string& digest,
                    std::string_view bytes, int64_t& offset, int64_t sent) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPieceBytes))) {
    const std::string_view piece = bytes.substr(0, kPieceBytes);
    const int64_t known = std::clamp<int64_t>(sent - offset, 0, static_cast<int64_t>(piece.size()));
    offset += known;
    const std::string_view rest = piece.substr(static_cast<size_t>(known));
    if (rest.empty()) continue;
    RETURN_IF_ERROR(store.Append(owner, digest, offset, rest));
    offset += static_cast<int64_t>(rest.size());
  }
  return absl::OkStatus();
}

// Signs one file, which stays in the store as it was: until the job's row has changed, that is the job's
// file.
absl::Status SignOne(const SigningKey& key, const std::string& owner, BlobStore& store, JobFile& file) {
  ASSIGN_OR_RETURN(const auto blob, store.Read(owner, file.digest));
  ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Map(blob.first.get()));
  const absl::StatusOr<SignedArtifact> made = SignInParts(mapped.text(), key);
  if (absl::IsInvalidArgument(made.status())) return absl::OkStatus();  // it has the name alone
  RETURN_IF_ERROR(made.status());
  Sha256 sum;
  for (const std::string_view part :
       {std::string_view(made->header), made->rest, std::string_view(made->signatures)})
    sum.Add(part);
  const std::string digest = sum.Finish();
  if (digest == file.digest) return absl::OkStatus();
  if (!store.Has(owner, digest)) {
    ASSIGN_OR_RETURN(const int64_t sent, store.Sent(owner, digest));
    int64_t offset = 0;
    for (const std::string_view part :
         {std::string_view(made->header), made->rest, std::string_view(made->signatures)})
      RETURN_IF_ERROR(Append(store, owner, digest, part, offset, sent));
    RETURN_IF_ERROR(store.Finish(owner, digest));
  }
  file.digest = digest;
  file.bytes = static_cast<int64_t>(made->header.size() + made->rest.size() + made->signatures.size());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ArtifactSigner> ArtifactSigner::OpenOrCreate(const std::string& folder) {
  ArtifactSigner signer(folder + "/signing-secrets");
  const absl::Status read = ReadSecrets(signer.path_).status();
  if (absl::IsNotFound(read)) {
    ASSIGN_OR_RETURN(const Secret secret, NewSecret());
    RETURN_IF_ERROR(WriteSecrets(signer.path_, {secret}));
    return signer;
  }
  RETURN_IF_ERROR(read);
  return signer;
}

absl::StatusOr<std::vector<SigningKey>> ArtifactSigner::KeysOf(const std::string& tenant) const {
  ASSIGN_OR_RETURN(const std::vector<Secret> secrets, ReadSecrets(path_));
  std::vector<SigningKey> keys;
  for (const Secret& secret : secrets) {
    ASSIGN_OR_RETURN(SigningKey key, KeyFor(secret, tenant));
    keys.push_back(std::move(key));
  }
  return keys;
}

absl::Status ArtifactSigner::Rotate() const {
  ASSIGN_OR_RETURN(std::vector<Secret> secrets, ReadSecrets(path_));
  ASSIGN_OR_RETURN(const Secret secret, NewSecret());
  secrets.insert(secrets.begin(), secret);
  if (secrets.size() > kMostSecrets) secrets.pop_back();
  return WriteSecrets(path_, secrets);
}

absl::Status ArtifactSigner::SignFile(const std::string& tenant, const std::string& name,
                                      const std::string& owner, BlobStore& store,
                                      std::vector<JobFile>& files) const {
  const auto file = std::ranges::find(files, name, &JobFile::name);
  if (file == files.end()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<SigningKey> keys, KeysOf(tenant));
  return Annotate(SignOne(keys.front(), owner, store, *file), name);
}

}  // namespace attune
