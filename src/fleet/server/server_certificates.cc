#include "fleet/server/server_certificates.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/credentials.h"
#include "fleet/identity/member_folders.h"
#include "fleet/wire/channel.h"

namespace attune {
namespace {

constexpr char kChain[] = "tls-chain.pem", kKey[] = "tls-key.pem", kTrusted[] = "tls-trusted.pem";
constexpr unsigned kReloadSeconds = 1;
constexpr double kRetrySeconds = 60;

}  // namespace

absl::Status ServerCertificates::WriteServers() {
  const std::string trusted = admission_.authority().TrustedPem();
  ASSIGN_OR_RETURN(const ServerTls tls, admission_.authority().ServerTlsFor({kFleetServerName, host_}));
  RETURN_IF_ERROR(WriteStateFile(Path(kKey), tls.key_pem));
  RETURN_IF_ERROR(WriteStateFile(Path(kChain), tls.chain_pem));
  RETURN_IF_ERROR(WriteStateFile(Path(kTrusted), trusted));
  servers_renewal_ms_ = tls.renewal_ms;
  trusted_ = trusted;
  read_from_ = SystemClock().Now() + 2 * kReloadSeconds;
  return absl::OkStatus();
}

absl::Status ServerCertificates::WriteOperators() {
  ASSIGN_OR_RETURN(const FleetCredentials own, admission_.OperatorCredentials());
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(own.certificate_pem));
  RETURN_IF_ERROR(SaveCredentials(OperatorFolder(folder_), own));
  operators_renewal_ms_ = RenewalMillis(facts);
  operators_authority_ = facts.authority;
  operators_trusted_ = own.authorities_pem;
  return absl::OkStatus();
}

absl::Status ServerCertificates::WriteDue() {
  FleetAuthority& authority = admission_.authority();
  const int64_t now_ms = SystemClock().WallMillis();
  if (now_ms >= servers_renewal_ms_ || trusted_ != authority.TrustedPem()) RETURN_IF_ERROR(WriteServers());
  if (SystemClock().Now() >= read_from_) authority.ServerAccepts(trusted_);
  const bool operators_are_good = now_ms < operators_renewal_ms_ && operators_trusted_ == trusted_ &&
                                  operators_authority_ == authority.SignerId();
  return operators_are_good ? absl::OkStatus() : WriteOperators();
}

void ServerCertificates::RenewIfDue() {
  if (SystemClock().Now() < retry_from_) return;
  const absl::Status status = WriteDue();
  if (status.ok()) return;
  Log(LogLevel::kError, "certificates are not renewed", "reason", status.message());
  retry_from_ = SystemClock().Now() + kRetrySeconds;
}

std::shared_ptr<grpc::ServerCredentials> ServerCertificates::ForMembers() const { return Credentials(true); }
std::shared_ptr<grpc::ServerCredentials> ServerCertificates::ForEveryone() const {
  return Credentials(false);
}

std::shared_ptr<grpc::ServerCredentials> ServerCertificates::Credentials(bool asks_for_certificates) const {
  const auto provider = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      Path(kKey), Path(kChain), Path(kTrusted), kReloadSeconds);
  grpc::experimental::TlsServerCredentialsOptions options(provider);
  options.watch_identity_key_cert_pairs();
  options.watch_root_certs();
  options.set_cert_request_type(asks_for_certificates
                                    ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                    : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace attune
