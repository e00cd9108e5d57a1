// The certificates that a TLS server shows, for a client that trusts none yet.
#ifndef ATTUNE_FLEET_IDENTITY_PEER_CERTIFICATES_H_
#define ATTUNE_FLEET_IDENTITY_PEER_CERTIFICATES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/process/message.h"

namespace attune {

// Connects to `address`, "host:port" with an IPv6 address in brackets, and returns the server's certificates
// (PEM), its own first. TLS proves that the server has the key of the first one, and nothing else: the caller
// must verify who has signed it. Sends nothing beyond the handshake. Thread safe.
//
// Errors name the address: it is no address (InvalidArgument), its host is unknown or no server accepts the
// connection (Unavailable), the server does not speak TLS (FailedPrecondition), or all that has not ended at
// the deadline (DeadlineExceeded). Only the look-up of the host's name has the system's own limit.
absl::StatusOr<std::vector<std::string>> PeerCertificates(const std::string& address, Deadline deadline);

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_PEER_CERTIFICATES_H_
