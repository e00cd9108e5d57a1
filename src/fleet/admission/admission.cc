#include "fleet/admission/admission.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"
#include "fleet/leases/device_owners.h"

namespace attune {
namespace {

// The ends of invitations, and certificates, are kept for this long after they have ended: a wall clock that
// is set back by more prolongs them.
constexpr double kKeptSeconds = 86400;

// The server's own operator, who is the same whenever the server starts.
constexpr char kServersOperator[] = "operator-of-server";

// An identity that no member has had before.
absl::StatusOr<std::string> NewId(std::string_view begin) {
  std::array<unsigned char, 6> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return absl::InternalError("no random numbers");
  return absl::StrCat(begin, "-",
                      absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

}  // namespace

absl::StatusOr<Invitation> Admission::Invite(FleetRole role, const std::string& owner) {
  if (role == FleetRole::kServer)
    return InvalidInput("a fleet has one server; invite agents, clients, runners and operators");
  RETURN_IF_ERROR(CheckFleetIdentity({.role = role, .owner = owner, .id = "new"}));
  ASSIGN_OR_RETURN(const std::string fingerprint, authority_.ServersFingerprint());
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(Invitation invitation, Invitation::New(enrolment_, fingerprint));
  RETURN_IF_ERROR(
      store_.AddInvitation({.digest = Sha256Hex(invitation.secret),
                            .role = role,
                            .owner = owner,
                            .end_ms = clock_.WallMillis() + static_cast<int64_t>(1e3 * kInvitationSeconds)}));
  std::erase_if(ends_, [now = clock_.Now()](const auto& entry) { return entry.second + kKeptSeconds < now; });
  ends_[Sha256Hex(invitation.secret)] = clock_.Now() + kInvitationSeconds;
  return invitation;
}

bool Admission::HasEnded(const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto end = ends_.extract(digest);
  return !end.empty() && end.mapped() <= clock_.Now();
}

absl::StatusOr<fleet_proto::Certificate> Admission::Enrol(const fleet_proto::EnrolRequest& request) {
  ASSIGN_OR_RETURN(const std::optional<PendingInvitation> invitation,
                   store_.TakeInvitation(request.secret(), clock_.WallMillis()));
  // A wall clock that is set back must not prolong it.
  if (HasEnded(Sha256Hex(request.secret())) || !invitation) {
    return absl::PermissionDeniedError(
        "the invitation is unknown, was used, or is older than ten minutes; ask for a new one");
  }
  ASSIGN_OR_RETURN(std::string id, NewId(Name(invitation->role)));
  return Certify({.role = invitation->role, .owner = invitation->owner, .id = std::move(id)},
                 request.certificate_request());
}

absl::StatusOr<fleet_proto::Certificate> Admission::Renew(const FleetIdentity& who,
                                                          const fleet_proto::RenewRequest& request) {
  if (const double wait = renewals_.Admit(who.id); wait > 0)
    return absl::ResourceExhaustedError(
        absl::StrCat("this member renews its certificate too often; try again in ", std::ceil(wait), " s"));
  return Certify(who, request.certificate_request());
}

absl::StatusOr<FleetCredentials> Admission::OperatorCredentials() {
  return CredentialsOf({.role = FleetRole::kOperator, .owner = kServersOwner, .id = kServersOperator});
}

absl::StatusOr<FleetCredentials> Admission::NewCredentials(FleetIdentity who) {
  ASSIGN_OR_RETURN(who.id, NewId(who.id.empty() ? Name(who.role) : who.id));
  return CredentialsOf(who);
}

absl::StatusOr<FleetCredentials> Admission::CredentialsOf(const FleetIdentity& who) {
  ASSIGN_OR_RETURN(const PrivateKey key, PrivateKey::Generate());
  ASSIGN_OR_RETURN(const std::string request, key.Request());
  ASSIGN_OR_RETURN(const fleet_proto::Certificate certificate, Certify(who, request));
  FleetCredentials credentials = {.server = certificate.server(),
                                  .authorities_pem = certificate.authorities(),
                                  .certificate_pem = certificate.certificate()};
  ASSIGN_OR_RETURN(credentials.key_pem, key.Pem());
  return credentials;
}

absl::Status Admission::Check(const CertificateFacts& facts) {
  RETURN_IF_ERROR(authority_.Check(facts));
  // At each call, so that a revocation counts at once, also that of another server.
  ASSIGN_OR_RETURN(const auto issued, store_.FindCertificate(facts.serial));
  if (!issued) RETURN_IF_ERROR(CheckIsRemembered(facts));
  if (issued && issued->revocation) return CertificateIsRevoked();
  return NoteShown(facts);
}

absl::Status Admission::ForgetEnded() {
  const int64_t now_ms = clock_.WallMillis(), before_ms = std::exchange(looked_ms_, now_ms);
  if (before_ms == 0) return absl::OkStatus();
  return store_.ForgetCertificates(std::min(now_ms, before_ms) - static_cast<int64_t>(1e3 * kKeptSeconds));
}

absl::Status Admission::CheckIsRemembered(const CertificateFacts& facts) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!IsForgotten(restored_, IssuedMillis(facts))) return absl::OkStatus();
  return absl::PermissionDeniedError(
      "the certificate was issued after the backup that this fleet was restored from, so it may have been "
      "revoked since; join again with a new invitation");
}

absl::Status Admission::NoteShown(const CertificateFacts& facts) {
  const bool counts = authority_.times().replaced_from_ms && facts.authority == authority_.NewestId();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!counts || shown_.contains(facts.serial)) return absl::OkStatus();
  RETURN_IF_ERROR(store_.SetShown(facts.serial));
  shown_.insert(facts.serial);
  return absl::OkStatus();
}

absl::StatusOr<fleet_proto::Certificate> Admission::Certify(const FleetIdentity& who,
                                                            const std::string& request_pem) {
  ASSIGN_OR_RETURN(const std::string pem, authority_.Sign(request_pem, who, kCertificateSeconds));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(pem));
  RETURN_IF_ERROR(store_.AddCertificate(facts));
  fleet_proto::Certificate certificate;
  certificate.set_certificate(pem);
  certificate.set_authorities(authority_.TrustedPem());
  const std::lock_guard<std::mutex> lock(mutex_);
  certificate.set_server(server_);
  return certificate;
}

}  // namespace attune
