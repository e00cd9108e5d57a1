#include "fleet/server/authority_replacement.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/process/message.h"
#include "base/status.h"

namespace attune {
namespace {

namespace proto = fleet_proto;
using Member = proto::AuthorityState::Member;

constexpr double kMostWaitSeconds = 15;
constexpr size_t kMostNamed = 5;  // members in a message

absl::StatusOr<proto::AuthorityState> StateOf(const FleetAuthority& authority, const Dispatcher& dispatcher,
                                              FleetStore& store) {
  const AuthorityTimes times = authority.times();
  proto::AuthorityState state;
  state.set_created_ms(times.created_ms);
  if (!times.replaced_from_ms) return state;
  state.set_replaced_from_ms(*times.replaced_from_ms);
  const int64_t now_ms = SystemClock().WallMillis();
  ASSIGN_OR_RETURN(const std::vector<IssuedCertificate> issued, store.ValidCertificates(now_ms));
  ASSIGN_OR_RETURN(const std::vector<FleetDevice> devices, store.Devices());
  for (Member& member : MembersWithout(authority.NewestId(), issued, devices, dispatcher.Connected(), now_ms))
    *state.add_behind() = std::move(member);
  return state;
}

// Fails if members would be thrown out.
absl::Status CheckNobodyIsBehind(const proto::AuthorityState& state) {
  std::vector<std::string> behind;
  for (const Member& member : state.behind())
    if (member.state() != Member::FORGOTTEN) behind.push_back(member.id());
  if (behind.empty()) return absl::OkStatus();
  const size_t named = std::min(behind.size(), kMostNamed);
  const std::string more = behind.size() > named ? absl::StrCat(" and ", behind.size() - named, " more") : "";
  return absl::FailedPreconditionError(absl::StrCat(
      "members that have not renewed their certificates would be thrown out: ",
      absl::StrJoin(behind.begin(), behind.begin() + static_cast<std::ptrdiff_t>(named), ", "), more,
      "; wait until attune fleet authority show names none, or finish with --force and have them enrol "
      "again"));
}

absl::Status Finish(bool is_forced, FleetAuthority& authority, Dispatcher& dispatcher, FleetStore& store) {
  ASSIGN_OR_RETURN(const proto::AuthorityState before, StateOf(authority, dispatcher, store));
  if (!is_forced) RETURN_IF_ERROR(CheckNobodyIsBehind(before));
  RETURN_IF_ERROR(authority.EndReplacement());
  std::set<std::string> behind;
  for (const Member& member : before.behind()) behind.insert(member.id());
  // Connections last longer than the certificates by which they were made.
  dispatcher.Close([&](const CertificateFacts& facts) {
    const absl::Status counts = authority.Check(facts);
    if (counts.ok() || behind.contains(facts.who.id)) return counts;
    return absl::UnavailableError("the fleet's authority was replaced; connect with the new certificate");
  });
  return absl::OkStatus();
}

}  // namespace

std::vector<Member> MembersWithout(const std::string& authority, const std::vector<IssuedCertificate>& issued,
                                   const std::vector<FleetDevice>& devices,
                                   const std::set<std::string>& connected, int64_t now_ms) {
  std::map<std::string, FleetIdentity> behind;
  std::set<std::string> renewed;
  for (const IssuedCertificate& certificate : issued) {
    const CertificateFacts& facts = certificate.facts;
    if (certificate.revocation || facts.end_ms <= now_ms) continue;
    if (facts.authority != authority) behind[facts.who.id] = facts.who;
    if (facts.authority == authority && certificate.is_shown) renewed.insert(facts.who.id);
  }
  std::erase_if(behind, [&](const auto& entry) { return renewed.contains(entry.first); });
  std::vector<Member> members;
  for (const auto& [id, who] : behind) {
    Member& member = members.emplace_back();
    member.set_id(id);
    member.set_role(std::string(Name(who.role)));
    member.set_owner(who.owner);
    const bool may_come =
        who.role != FleetRole::kAgent || std::ranges::find(devices, id, &FleetDevice::agent) != devices.end();
    member.set_state(connected.contains(id) ? Member::CONNECTED
                     : may_come             ? Member::AWAY
                                            : Member::FORGOTTEN);
  }
  return members;
}

absl::StatusOr<proto::AuthorityState> ChangeAuthority(const proto::AuthorityRequest& request,
                                                      FleetAuthority& authority, Dispatcher& dispatcher,
                                                      FleetStore& store) {
  if (request.change() == proto::AuthorityRequest::REPLACE) RETURN_IF_ERROR(authority.BeginReplacement());
  if (request.change() == proto::AuthorityRequest::FINISH)
    RETURN_IF_ERROR(Finish(request.is_forced(), authority, dispatcher, store));
  if (request.change() != proto::AuthorityRequest::NONE)
    RETURN_IF_ERROR(authority.AwaitServer(After(kMostWaitSeconds)));
  return StateOf(authority, dispatcher, store);
}

}  // namespace attune
