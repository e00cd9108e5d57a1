// A server asks its callers by this to renew their certificates.
#ifndef ATTUNE_FLEET_WIRE_RENEWAL_H_
#define ATTUNE_FLEET_WIRE_RENEWAL_H_

namespace attune {

// Among the initial metadata of an answer: the caller's certificate is of an authority that is being
// replaced.
inline constexpr char kRenewalAsked[] = "attune-renewal-asked";

}  // namespace attune

#endif  // ATTUNE_FLEET_WIRE_RENEWAL_H_
