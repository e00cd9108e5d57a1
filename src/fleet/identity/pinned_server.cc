#include "fleet/identity/pinned_server.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/process/message.h"
#include "base/status.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/peer_certificates.h"

namespace attune {
namespace {

absl::Status CheckIsServer(std::string_view certificate, std::string_view authority) {
  RETURN_IF_ERROR(VerifyCertificate(certificate, authority));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(certificate));
  if (facts.who.role == FleetRole::kServer) return absl::OkStatus();
  return InvalidInput("its role is ", Name(facts.who.role));
}

}  // namespace

absl::StatusOr<std::string> AuthorityOf(const Invitation& invitation, double seconds) {
  ASSIGN_OR_RETURN(const std::vector<std::string> chain,
                   PeerCertificates(invitation.address, After(seconds)));
  const auto pinned = std::ranges::find_if(chain, [&](const std::string& pem) {
    const absl::StatusOr<std::string> fingerprint = KeyFingerprint(pem);
    return fingerprint.ok() && *fingerprint == invitation.fingerprint;
  });
  const std::string address = Printable(invitation.address);
  if (pinned == chain.end())
    return absl::UnauthenticatedError(
        absl::StrCat("another server answers at ", address,
                     ", or the fleet's authority was replaced; ask for a new invitation"));
  const absl::Status is_server = CheckIsServer(chain.front(), *pinned);
  if (absl::IsUnavailable(is_server)) return Annotate(is_server, address);
  if (!is_server.ok())
    return absl::UnauthenticatedError(absl::StrCat(
        address, ": the fleet's authority does not vouch for this server: ", is_server.message()));
  return *pinned;
}

absl::Status CheckServerIsKnown(const std::string& server, const std::string& authorities_pem,
                                double seconds) {
  const absl::StatusOr<std::vector<std::string>> chain = PeerCertificates(server, After(seconds));
  if (!chain.ok() || chain->empty()) return absl::OkStatus();
  const absl::Status is_server = CheckIsServer(chain->front(), authorities_pem);
  if (is_server.ok()) return absl::OkStatus();
  if (absl::IsUnavailable(is_server)) return Annotate(is_server, Printable(server));
  return absl::UnauthenticatedError(
      absl::StrCat("the fleet's authority was replaced, or another server answers at ", Printable(server),
                   " (", is_server.message(), "); ask an operator for an invitation and enrol again"));
}

absl::Status ExplainLostServer(const FleetCredentials& credentials, double seconds) {
  if (!credentials.certificate_pem.empty())
    RETURN_IF_ERROR(CheckHasBegun(credentials.certificate_pem, SystemClock()));
  return CheckServerIsKnown(credentials.server, credentials.authorities_pem, seconds);
}

}  // namespace attune
