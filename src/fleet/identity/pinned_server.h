// Lets a new member make sure that it speaks with the server of its invitation.
//
// Problem: before the enrolment the member has no certificate to verify the server by, and gRPC must be given
// one. Idea: look at the certificates that the server shows, take the authority whose key has the fingerprint
// of the invitation, and verify that it has signed the server's own; gRPC then trusts that authority alone.
#ifndef ATTUNE_FLEET_IDENTITY_PINNED_SERVER_H_
#define ATTUNE_FLEET_IDENTITY_PINNED_SERVER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/identity/credentials.h"
#include "fleet/identity/invitation.h"

namespace attune {

// The certificate (PEM) of the fleet's authority, for the connection over which the invitation's secret is
// sent; this function does not send it. `seconds` bounds all of it except the look-up of the host's name.
// Thread safe.
//
// Fails as PeerCertificates() does, with Unavailable if a clock is wrong, and with Unauthenticated if the
// server does not show that authority, or the authority does not vouch for it as a server now.
absl::StatusOr<std::string> AuthorityOf(const Invitation& invitation, double seconds);

// For a member that has enrolled, and whose connection has failed: Unauthenticated, with the way out, if none
// of the authorities (PEM) vouches for the server at `server`, "host:port". Ok also without an answer within
// `seconds`. Unavailable if its certificate counts only later, since a clock is wrong. Thread safe.
absl::Status CheckServerIsKnown(const std::string& server, const std::string& authorities_pem,
                                double seconds);
// The same for a member, whose own certificate may count only later as well.
absl::Status ExplainLostServer(const FleetCredentials& credentials, double seconds);

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_PINNED_SERVER_H_
