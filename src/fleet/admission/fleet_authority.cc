#include "fleet/admission/fleet_authority.h"

#include "base/status.h"

namespace attune {

std::string FleetAuthority::SignerId() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return signer().id();
}

std::string FleetAuthority::NewestId() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return files_.signer().id();
}

absl::StatusOr<std::string> FleetAuthority::Sign(const std::string& request_pem, const FleetIdentity& who,
                                                 double seconds) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return signer().Sign(request_pem, who, seconds, {}, clock_);
}

absl::Status FleetAuthority::Check(const CertificateFacts& facts) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (facts.authority == files_.signer().id() || facts.authority == files_.servers_signer().id())
    return absl::OkStatus();
  return absl::PermissionDeniedError(
      "the certificate is of an authority that the fleet has replaced; ask an operator for an invitation and "
      "enrol again");
}

absl::StatusOr<std::string> FleetAuthority::ServersFingerprint() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return KeyFingerprint(files_.servers_signer().certificate_pem());
}

absl::StatusOr<ServerTls> FleetAuthority::ServerTlsFor(const std::vector<std::string>& hosts) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return files_.ServerTlsFor(hosts);
}

std::string FleetAuthority::TrustedPem() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return files_.TrustedPem();
}

AuthorityTimes FleetAuthority::times() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  AuthorityTimes times = {.created_ms = files_.servers_signer().created_ms()};
  if (files_.is_being_replaced()) times.replaced_from_ms = files_.signer().created_ms();
  return times;
}

absl::Status FleetAuthority::BeginReplacement() {
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(files_.BeginReplacement());
  server_accepts_ = false;
  return absl::OkStatus();
}

absl::Status FleetAuthority::EndReplacement() {
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(files_.EndReplacement());
  server_accepts_ = false;
  return absl::OkStatus();
}

void FleetAuthority::ServerAccepts(const std::string& trusted_pem) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (trusted_pem != files_.TrustedPem()) return;  // it has changed meanwhile
    server_accepts_ = true;
  }
  changed_.notify_all();
}

absl::Status FleetAuthority::AwaitServer(Deadline deadline) const {
  std::unique_lock<std::mutex> lock(mutex_);
  if (changed_.wait_until(lock, deadline, [&] { return server_accepts_; })) return absl::OkStatus();
  return absl::DeadlineExceededError(
      "the server has not taken up its new certificates yet; its log says what hinders it");
}

}  // namespace attune
