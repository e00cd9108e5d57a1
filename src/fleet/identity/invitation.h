// Invitations to a fleet: the texts by which new members enrol.
//
// Problem: a new member has no certificate yet, and does not know the server's. Idea: an operator hands over
// a text, on a channel that both trust, with the server's address, the fingerprint of its authority's key, so
// that no other server can pose as it, and a secret that counts once and not for long. The server keeps
// digests of the secrets alone. Price: the text must be kept from others for those minutes.
#ifndef ATTUNE_FLEET_IDENTITY_INVITATION_H_
#define ATTUNE_FLEET_IDENTITY_INVITATION_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace attune {

inline constexpr double kInvitationSeconds = 600;

struct Invitation {
  std::string address;      // "host:port" of the server's enrolment
  std::string fingerprint;  // KeyFingerprint() of the authority's certificate
  std::string secret;

  // With a new secret of 192 random bits.
  static absl::StatusOr<Invitation> New(std::string address, std::string fingerprint);
  // The inverse of Text(). Errors do not repeat the text, since it may be logged.
  static absl::StatusOr<Invitation> Parse(std::string_view text);
  // One word that can be pasted, with a checksum, so that a slip is noticed before anybody is asked.
  std::string Text() const;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_INVITATION_H_
