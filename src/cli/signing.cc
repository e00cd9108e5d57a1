// attune key create|show, attune sign
#include "cli/signing.h"

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "artifact/signer.h"
#include "base/file.h"
#include "base/private_file.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"

namespace attune {
namespace {

constexpr int64_t kMostKeyBytes = 1 << 16;
constexpr int64_t kMostArtifactBytes = int64_t{64} << 30;

struct SigningFlags {
  std::string file, key;
};

absl::StatusOr<SigningKey> ReadSigningKey(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string pem, ReadPrivateFile(path, kMostKeyBytes));
  absl::StatusOr<SigningKey> key = SigningKey::FromPem(pem);
  if (!key.ok()) return Annotate(key.status(), path);
  return key;
}

absl::StatusOr<std::vector<Ed25519Key>> ReadPublicKeys(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string pem, ReadFile(path, kMostKeyBytes));
  absl::StatusOr<std::vector<Ed25519Key>> keys = PublicKeysFromPem(pem);
  if (!keys.ok()) return Annotate(keys.status(), path);
  return keys;
}

absl::Status Create(const SigningFlags& flags) {
  const std::string public_path = flags.file + ".pub";
  for (const std::string& path : {flags.file, public_path}) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
      return InvalidInput(path,
                          ": exists already; overwriting it would end the trust in all that it has signed; "
                          "name another file");
  }
  ASSIGN_OR_RETURN(const SigningKey key, SigningKey::Generate());
  ASSIGN_OR_RETURN(const std::string pem, key.Pem());
  ASSIGN_OR_RETURN(const std::string public_pem, key.PublicPem());
  RETURN_IF_ERROR(WritePrivateFile(flags.file, pem));
  RETURN_IF_ERROR(WriteFileAtomically(public_path, public_pem));
  PrintResult(absl::StrCat(KeyHex(key.public_key()), "\n"));
  PrintNote(absl::StrCat(flags.file, " signs (attune compile --sign); keep it secret; ", public_path,
                         " is for those who trust it (attune run --trust)"));
  return absl::OkStatus();
}

absl::Status Show(const SigningFlags& flags) {
  ASSIGN_OR_RETURN(const std::vector<Ed25519Key> keys, ReadPublicKeys(flags.file));
  for (const Ed25519Key& key : keys) PrintResult(KeyHex(key) + "\n");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadTrustedKeys(const std::vector<std::string>& files) {
  std::vector<std::string> trusted;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::vector<Ed25519Key> keys, ReadPublicKeys(file));
    for (const Ed25519Key& key : keys) trusted.push_back(KeyHex(key));
  }
  return trusted;
}

absl::Status SignFile(const std::string& artifact, const std::string& key_file) {
  ASSIGN_OR_RETURN(const SigningKey key, ReadSigningKey(key_file));
  ASSIGN_OR_RETURN(const std::string file, ReadFile(artifact, kMostArtifactBytes));
  absl::StatusOr<std::string> made = SignArtifact(file, key);
  if (!made.ok())
    return absl::Status(made.status().code(), absl::StrCat(artifact, " ", made.status().message()));
  return WriteFileAtomically(artifact, *made);
}

void AddSignCommands(CLI::App& app, Action& action) {
  auto flags = std::make_shared<SigningFlags>();
  CLI::App* sign = app.add_subcommand("sign", "Sign an artifact, for people who run it with --trust");
  sign->add_option("ARTIFACT", flags->file, "the file, which is replaced by the signed one")->required();
  sign->add_option("--key", flags->key, "the file of a private key, as attune key create makes it")
      ->required();
  sign->callback([flags, &action] { action = [flags] { return SignFile(flags->file, flags->key); }; });

  CLI::App* key = app.add_subcommand("key", "Keys that sign artifacts (Ed25519)");
  key->require_subcommand(1);
  CLI::App* create =
      key->add_subcommand("create", "Make a key: FILE signs, FILE.pub is for those who trust it");
  create->add_option("FILE", flags->file, "a file that does not exist yet")->required();
  create->callback([flags, &action] { action = [flags] { return Create(*flags); }; });
  CLI::App* show = key->add_subcommand("show", "Print public keys in the form for programs: 64 digits each");
  show->add_option("FILE", flags->file, "public keys in PEM")->required();
  show->callback([flags, &action] { action = [flags] { return Show(*flags); }; });
}

}  // namespace attune
