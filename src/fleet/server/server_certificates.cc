#include "fleet/server/server_certificates.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/private_file.h"
#include "base/status.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/credentials.h"
#include "fleet/server/fleet_server.h"
#include "fleet/wire/channel.h"

namespace attune {
namespace {

constexpr char kChain[] = "tls-chain.pem", kKey[] = "tls-key.pem", kTrusted[] = "tls-trusted.pem";
constexpr unsigned kReloadSeconds = 1;
constexpr int64_t kRetryMillis = 60'000;

}  // namespace

absl::Status ServerCertificates::WriteServers() {
  ASSIGN_OR_RETURN(const ServerTls tls, admission_.ServerTlsFor({kFleetServerName, host_}));
  RETURN_IF_ERROR(WritePrivateFile(Path(kKey), tls.key_pem));
  RETURN_IF_ERROR(WritePrivateFile(Path(kChain), tls.chain_pem));
  RETURN_IF_ERROR(WritePrivateFile(Path(kTrusted), admission_.TrustedPem()));
  servers_renewal_ms_ = tls.renewal_ms;
  return absl::OkStatus();
}

absl::Status ServerCertificates::WriteOperators() {
  ASSIGN_OR_RETURN(const FleetCredentials own, admission_.OperatorCredentials());
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(own.certificate_pem));
  RETURN_IF_ERROR(SaveCredentials(OperatorFolder(folder_), own));
  operators_renewal_ms_ = RenewalMillis(facts);
  return absl::OkStatus();
}

void ServerCertificates::RenewIfDue() {
  const int64_t now_ms = SystemClock().WallMillis();
  if (now_ms < std::min(servers_renewal_ms_, operators_renewal_ms_)) return;
  absl::Status status = WriteServers();
  if (status.ok()) status = WriteOperators();
  if (status.ok()) return;
  Log(LogLevel::kError, "certificates are not renewed", "reason", status.message());
  servers_renewal_ms_ = operators_renewal_ms_ = now_ms + kRetryMillis;
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
