#include "fleet/identity/authority_files.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/identity/pem_file.h"

namespace attune {
namespace {

constexpr int64_t kMostBytes = 1 << 16;
constexpr size_t kMostAuthorities = 2;
constexpr double kServerSeconds = 90 * 86400;

std::string AuthoritiesPath(const std::string& folder) { return folder + "/authorities.pem"; }
std::string ServerPath(const std::string& folder) { return folder + "/server.pem"; }

// Stands before the server's certificate in its file, and tells for whom it was made.
std::string PreambleFor(const std::vector<std::string>& hosts) {
  return absl::StrCat("Attune fleet server 1\nhosts: ", absl::StrJoin(hosts, " "), "\n");
}

}  // namespace

absl::StatusOr<AuthorityFiles> AuthorityFiles::OpenOrCreate(const std::string& folder, const Clock& clock,
                                                            FleetSecrets* secrets) {
  AuthorityFiles files(folder, clock, secrets);
  RETURN_IF_ERROR(MakeStateFolder(folder));
  ASSIGN_OR_RETURN(const std::optional<std::string> text, files.LoadAuthorities());
  if (!text) {
    ASSIGN_OR_RETURN(CertificateAuthority first, CertificateAuthority::Create(clock));
    RETURN_IF_ERROR(files.WriteAuthorities({&first}));
    files.authorities_.push_back(std::move(first));
    return files;
  }
  RETURN_IF_ERROR(Annotate(files.ReadAuthorities(*text), AuthoritiesPath(folder)));
  return files;
}

absl::StatusOr<std::optional<std::string>> AuthorityFiles::LoadAuthorities() const {
  if (secrets_ != nullptr) return secrets_->LoadAuthorities();
  absl::StatusOr<std::string> text = ReadStateFile(AuthoritiesPath(folder_), kMostBytes);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  if (!text.ok()) return text.status();
  return *std::move(text);
}

absl::Status AuthorityFiles::ReadAuthorities(std::string_view text) {
  ASSIGN_OR_RETURN(const PemParts parts, SplitPem(text));
  const size_t count = parts.certificates.size();
  if (count == 0 || count > kMostAuthorities || parts.keys.size() != count)
    return InvalidInput("does not have one or two authorities, each with its key");
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(CertificateAuthority authority,
                     CertificateAuthority::Read(parts.certificates[i], parts.keys[i]));
    authorities_.push_back(std::move(authority));
  }
  return absl::OkStatus();
}

// One file has them all, so that a replacement begins or ends as a whole.
absl::Status AuthorityFiles::WriteAuthorities(
    const std::vector<const CertificateAuthority*>& authorities) const {
  std::string text;
  for (const CertificateAuthority* authority : authorities) {
    ASSIGN_OR_RETURN(const std::string key, authority->key().Pem());
    absl::StrAppend(&text, authority->certificate_pem(), key);
  }
  return secrets_ != nullptr ? secrets_->SaveAuthorities(text)
                             : WriteStateFile(AuthoritiesPath(folder_), text);
}

std::string AuthorityFiles::TrustedPem() const {
  std::string trusted;
  for (const CertificateAuthority& authority : authorities_) trusted += authority.certificate_pem();
  return trusted;
}

absl::Status AuthorityFiles::BeginReplacement() {
  if (is_being_replaced())
    return absl::FailedPreconditionError("the fleet's authority is being replaced already; end that first");
  ASSIGN_OR_RETURN(CertificateAuthority next, CertificateAuthority::Create(*clock_));
  RETURN_IF_ERROR(WriteAuthorities({&signer(), &next}));
  authorities_.push_back(std::move(next));
  return absl::OkStatus();
}

absl::Status AuthorityFiles::EndReplacement() {
  if (!is_being_replaced())
    return absl::FailedPreconditionError("the fleet's authority is not being replaced");
  RETURN_IF_ERROR(WriteAuthorities({&signer()}));
  authorities_.erase(authorities_.begin());
  return absl::OkStatus();
}

absl::StatusOr<ServerTls> AuthorityFiles::ServerTlsFor(const std::vector<std::string>& hosts) const {
  if (hosts.empty())
    return InvalidInput("a fleet's server needs a name or an address that others reach it by");
  const std::string preamble = PreambleFor(hosts);
  if (std::optional<ServerTls> current = ReadServerTls(preamble)) return *std::move(current);
  ASSIGN_OR_RETURN(ServerTls made, NewServerTls(hosts));
  RETURN_IF_ERROR(WriteStateFile(ServerPath(folder_), absl::StrCat(preamble, made.chain_pem, made.key_pem)));
  return made;
}

// Nothing if a new certificate is needed, for whichever reason: that is always possible, and safer than to
// keep a key that others may have read.
std::optional<ServerTls> AuthorityFiles::ReadServerTls(const std::string& preamble) const {
  const absl::StatusOr<std::string> text = ReadStateFile(ServerPath(folder_), kMostBytes);
  if (!text.ok()) return std::nullopt;
  absl::StatusOr<PemParts> parts = SplitPem(*text);
  if (!parts.ok() || parts->preamble != preamble || parts->certificates.size() != 2 ||
      parts->keys.size() != 1 || parts->certificates[1] != servers_signer().certificate_pem())
    return std::nullopt;
  const absl::StatusOr<CertificateFacts> facts = ReadCertificate(parts->certificates[0]);
  if (!facts.ok() || RenewalMillis(*facts) <= clock_->WallMillis()) return std::nullopt;
  const absl::StatusOr<PrivateKey> key = PrivateKey::Read(parts->keys[0]);
  if (!key.ok() || !key->CheckIsKeyOf(parts->certificates[0]).ok()) return std::nullopt;
  return ServerTls{.chain_pem = absl::StrJoin(parts->certificates, ""),
                   .key_pem = std::move(parts->keys[0]),
                   .renewal_ms = RenewalMillis(*facts)};
}

absl::StatusOr<ServerTls> AuthorityFiles::NewServerTls(const std::vector<std::string>& hosts) const {
  const FleetIdentity server = {.role = FleetRole::kServer, .owner = "fleet", .id = "server"};
  ASSIGN_OR_RETURN(const PrivateKey key, PrivateKey::Generate());
  ASSIGN_OR_RETURN(const std::string request, key.Request());
  ASSIGN_OR_RETURN(const std::string certificate,
                   servers_signer().Sign(request, server, kServerSeconds, hosts, *clock_));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(certificate));
  ASSIGN_OR_RETURN(std::string key_pem, key.Pem());
  return ServerTls{.chain_pem = certificate + servers_signer().certificate_pem(),
                   .key_pem = std::move(key_pem),
                   .renewal_ms = RenewalMillis(facts)};
}

}  // namespace attune
