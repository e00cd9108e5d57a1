// Tokens of leases as messages.
#ifndef ATTUNE_FLEET_WIRE_TOKEN_H_
#define ATTUNE_FLEET_WIRE_TOKEN_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "fleet/leases/fleet_leases.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

inline LeaseToken FromWire(const fleet_proto::Token& token) {
  return {.epoch = token.epoch(), .number = token.number()};
}

inline void ToWire(const LeaseToken& token, fleet_proto::Token& to) {
  to.set_epoch(token.epoch);
  to.set_number(token.number);
}

// "12.345", for logs.
inline std::string TokenText(const LeaseToken& token) { return absl::StrCat(token.epoch, ".", token.number); }

}  // namespace attune

#endif  // ATTUNE_FLEET_WIRE_TOKEN_H_
