#include "fleet/identity/credentials.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/state_file.h"
#include "base/status.h"
#include "base/user_path.h"
#include "fleet/identity/pem_file.h"

namespace attune {
namespace {

constexpr std::string_view kTitle = "Attune fleet credentials 1\nserver: ";
constexpr int64_t kMostBytes = 1 << 16;
constexpr double kTwoAuthoritiesSeconds =
    86400;  // until they are one again, unless the replacement takes longer

std::string FileOf(const std::string& folder) { return folder + "/credentials.pem"; }

// The same error with the way out.
absl::Status EnrolAgain(const absl::Status& error) {
  return absl::Status(error.code(),
                      absl::StrCat(error.message(), "; enrol with attune fleet join --invitation-file -"));
}

absl::Status CheckServer(std::string_view server) {
  const bool is_word =
      !server.empty() && std::ranges::all_of(server, [](char c) { return c > ' ' && c < 127; });
  return is_word ? absl::OkStatus() : InvalidInput("\"", Printable(server), "\" is not a server's address");
}

absl::Status CheckCredentials(const FleetCredentials& credentials) {
  RETURN_IF_ERROR(CheckServer(credentials.server));
  RETURN_IF_ERROR(ReadCertificate(credentials.certificate_pem).status());
  ASSIGN_OR_RETURN(const PrivateKey key, PrivateKey::Read(credentials.key_pem));
  RETURN_IF_ERROR(key.CheckIsKeyOf(credentials.certificate_pem));
  return Annotate(KeyFingerprint(credentials.authorities_pem).status(), "the fleet's authority");
}

}  // namespace

std::string FormatCredentials(const FleetCredentials& credentials) {
  return absl::StrCat(kTitle, credentials.server, "\n", credentials.certificate_pem, credentials.key_pem,
                      credentials.authorities_pem);
}

absl::StatusOr<FleetCredentials> ParseCredentials(std::string_view text) {
  ASSIGN_OR_RETURN(PemParts parts, SplitPem(text));
  std::string_view server = parts.preamble;
  const bool is_ours = server.starts_with(kTitle) && server.ends_with('\n');
  if (!is_ours || parts.keys.size() != 1 || parts.certificates.empty())
    return InvalidInput("has no credentials that this version of Attune can read");
  server = server.substr(kTitle.size(), server.size() - kTitle.size() - 1);
  const auto authorities = parts.certificates.begin() + 1;
  FleetCredentials credentials = {.server = std::string(server),
                                  .authorities_pem = absl::StrJoin(authorities, parts.certificates.end(), ""),
                                  .certificate_pem = std::move(parts.certificates.front()),
                                  .key_pem = std::move(parts.keys.front())};
  RETURN_IF_ERROR(CheckCredentials(credentials));
  return credentials;
}

absl::StatusOr<int64_t> RenewalMillis(const FleetCredentials& credentials) {
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(credentials.certificate_pem));
  ASSIGN_OR_RETURN(const PemParts authorities, SplitPem(credentials.authorities_pem));
  const int64_t usual_ms = RenewalMillis(facts);
  if (authorities.certificates.size() < 2) return usual_ms;
  return std::min(usual_ms, facts.begin_ms + static_cast<int64_t>(1e3 * kTwoAuthoritiesSeconds));
}

absl::StatusOr<std::string> DefaultCredentialsFolder(
    const std::function<const char*(const char*)>& environment) {
  std::optional<std::string> folder = FindUserPath({.variable = "ATTUNE_FLEET",
                                                    .xdg_variable = "XDG_CONFIG_HOME",
                                                    .home_folder = ".config",
                                                    .name = "attune/fleet"},
                                                   environment);
  if (folder) return *std::move(folder);
  return absl::NotFoundError(
      "there is no home folder to keep credentials in; name a folder with ATTUNE_FLEET");
}

absl::StatusOr<FleetCredentials> LoadCredentials(const std::string& folder, const Clock& clock) {
  const std::string path = FileOf(folder);
  const absl::StatusOr<std::string> text = ReadStateFile(path, kMostBytes);
  if (absl::IsNotFound(text.status()))
    return EnrolAgain(absl::NotFoundError(absl::StrCat(path, ": there are no credentials")));
  if (!text.ok()) return text.status();
  absl::StatusOr<FleetCredentials> credentials = ParseCredentials(*text);
  if (!credentials.ok()) return EnrolAgain(Annotate(credentials.status(), path));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(credentials->certificate_pem));
  credentials->folder = folder;
  if (clock.WallMillis() < facts.end_ms) return credentials;
  return EnrolAgain(absl::FailedPreconditionError(absl::StrCat(path, ": the certificate has ended")));
}

absl::StatusOr<FleetCredentials> LoadCredentialsOf(FleetRole role, const std::string& folder) {
  ASSIGN_OR_RETURN(FleetCredentials credentials, LoadCredentials(folder));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(credentials.certificate_pem));
  if (facts.who.role == role) return credentials;
  const std::string_view article = role == FleetRole::kAgent || role == FleetRole::kOperator ? "an " : "a ";
  return InvalidInput(folder, ": the credentials there are those of ", Name(facts.who.role), "s; enrol with ",
                      article, Name(role), "'s invitation, or name another folder");
}

absl::Status SaveCredentials(const std::string& folder, const FleetCredentials& credentials) {
  const std::string path = FileOf(folder);
  const std::string text = FormatCredentials(credentials);
  RETURN_IF_ERROR(Annotate(ParseCredentials(text).status(), path));
  RETURN_IF_ERROR(MakeStateFolder(folder));
  return WriteStateFile(path, text);
}

}  // namespace attune
