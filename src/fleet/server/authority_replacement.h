// The replacement of the fleet's authority as operators see it: begun, watched and ended.
#ifndef ATTUNE_FLEET_SERVER_AUTHORITY_REPLACEMENT_H_
#define ATTUNE_FLEET_SERVER_AUTHORITY_REPLACEMENT_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fleet/admission/fleet_authority.h"
#include "fleet/server/dispatcher.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

// The members that would be thrown out if only certificates of `authority` counted: they have valid ones of
// others, and have shown none of it. Certificates on their way to them may be lost. `connected` has the ids
// of those who are connected. In the order of their ids.
std::vector<fleet_proto::AuthorityState::Member> MembersWithout(const std::string& authority,
                                                                const std::vector<IssuedCertificate>& issued,
                                                                const std::vector<FleetDevice>& devices,
                                                                const std::set<std::string>& connected,
                                                                int64_t now_ms);

// Does what the request asks for, and returns the state then. Returns once new connections are made by the
// new state, which takes some seconds; DeadlineExceeded, although the change is made, if that takes too long.
// FailedPrecondition if the authority is, or is not, being replaced already, or if members would be thrown
// out and that is not forced. Thread safe.
absl::StatusOr<fleet_proto::AuthorityState> ChangeAuthority(const fleet_proto::AuthorityRequest& request,
                                                            FleetAuthority& authority, Dispatcher& dispatcher,
                                                            FleetStore& store);

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_AUTHORITY_REPLACEMENT_H_
