#include "fleet/server/authority_replacement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using Member = fleet_proto::AuthorityState::Member;

constexpr int64_t kNow = 1000;

IssuedCertificate Issued(FleetRole role, const std::string& id, const std::string& authority,
                         int64_t end_ms = kNow + 1) {
  return {
      .facts = {.who = {.role = role, .owner = "ann", .id = id}, .end_ms = end_ms, .authority = authority},
      .is_shown = true};
}

std::vector<std::string> Behind(const std::vector<IssuedCertificate>& issued,
                                const std::vector<FleetDevice>& devices = {},
                                const std::set<std::string>& connected = {}) {
  std::vector<std::string> behind;
  for (const Member& member : MembersWithout("new", issued, devices, connected, kNow))
    behind.push_back(member.id() + " " + member.role() + " " + Member::State_Name(member.state()));
  return behind;
}

TEST(MembersWithout, NamesThoseWhoHaveOnlyOldCertificates) {
  IssuedCertificate revoked = Issued(FleetRole::kClient, "e-revoked", "old");
  revoked.revocation = Revocation{.reason = "lost"};
  EXPECT_THAT(
      Behind({Issued(FleetRole::kClient, "a", "old"), Issued(FleetRole::kClient, "a", "older"),
              Issued(FleetRole::kClient, "b-renewed", "old"), Issued(FleetRole::kClient, "b-renewed", "new"),
              Issued(FleetRole::kOperator, "c-unknown", ""),
              Issued(FleetRole::kClient, "d-ended", "old", kNow), revoked}),
      ElementsAre("a client AWAY", "c-unknown operator AWAY"));
}

// It has nothing that it could renew with.
TEST(MembersWithout, ARenewedCertificateThatHasEndedDoesNotCount) {
  EXPECT_THAT(Behind({Issued(FleetRole::kClient, "a", "old"), Issued(FleetRole::kClient, "a", "new", kNow)}),
              ElementsAre("a client AWAY"));
}

TEST(MembersWithout, ARenewedCertificateThatMayBeLostOnItsWayDoesNotCount) {
  IssuedCertificate sent = Issued(FleetRole::kClient, "a", "new"), enrolled = sent;
  sent.is_shown = enrolled.is_shown = false;
  enrolled.facts.who.id = "b";
  EXPECT_THAT(Behind({Issued(FleetRole::kClient, "a", "old"), sent, enrolled}), ElementsAre("a client AWAY"));
}

TEST(MembersWithout, SaysWhoIsConnectedAndWhoIsForgotten) {
  const std::vector<IssuedCertificate> agents = {
      Issued(FleetRole::kAgent, "away", "old"), Issued(FleetRole::kAgent, "pilot", "old"),
      Issued(FleetRole::kAgent, "there", "old"), Issued(FleetRole::kClient, "tuner", "old")};
  EXPECT_THAT(Behind(agents, {{.id = "away/cpu", .agent = "away"}}, {"there", "tuner"}),
              ElementsAre("away agent AWAY", "pilot agent FORGOTTEN", "there agent CONNECTED",
                          "tuner client CONNECTED"));
}

}  // namespace
}  // namespace attune
