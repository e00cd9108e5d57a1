#include "fleet/server/connection_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "fleet/server/mailbox.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

using Mail = Mailbox<fleet_proto::ToAgent>;

struct Connection {
  CertificateFacts who = {};
  std::shared_ptr<Mail> link = {};
};

CertificateFacts Member(const std::string& id, FleetRole role = FleetRole::kAgent) {
  return {.who = {.role = role, .owner = "ann", .id = id}};
}

class ConnectionTableTest : public ::testing::Test {
 protected:
  ConnectionTable<Connection> table_{2};
};

TEST_F(ConnectionTableTest, ConnectionsHaveNumbersThatNoneHadBefore) {
  const int64_t first = table_.Add(Member("a"), std::make_shared<Mail>());
  EXPECT_GT(first, 0);
  ASSERT_NE(table_.Find(first), nullptr);
  EXPECT_EQ(table_.Find(first)->who.who.id, "a");
  table_.Erase(first);
  EXPECT_EQ(table_.Find(first), nullptr);
  EXPECT_GT(table_.Add(Member("a"), std::make_shared<Mail>()), first);
}

TEST_F(ConnectionTableTest, AMemberHasAtMostSoManyAtATime) {
  const auto full = std::make_shared<Mail>(), again = std::make_shared<Mail>();
  const int64_t first = table_.Add(Member("a"), std::make_shared<Mail>());
  table_.Add(Member("a"), std::make_shared<Mail>());
  EXPECT_EQ(table_.Find(table_.Add(Member("a"), full)), nullptr);
  EXPECT_EQ(full->closed(), absl::ResourceExhaustedError("a member has at most 2 connections at a time"));
  EXPECT_NE(table_.Find(table_.Add(Member("b"), std::make_shared<Mail>())), nullptr);
  table_.Erase(first);
  EXPECT_NE(table_.Find(table_.Add(Member("a"), again)), nullptr);
  for (int i = 0; i < 5; ++i) {
    const auto server = std::make_shared<Mail>();
    table_.Add(Member("server", FleetRole::kServer), server);
    EXPECT_EQ(server->closed(), std::nullopt);
  }
}

TEST_F(ConnectionTableTest, ThoseWhoAreRefusedAreClosedAndStayUntilTheyAreErased) {
  const auto a = std::make_shared<Mail>(), b = std::make_shared<Mail>(), server = std::make_shared<Mail>();
  const int64_t number = table_.Add(Member("a"), a);
  table_.Add(Member("b"), b);
  table_.Add(Member("server", FleetRole::kServer), server);
  const absl::Status why = absl::PermissionDeniedError("it was sold");
  table_.Close([&](const CertificateFacts& facts) { return facts.who.id == "b" ? absl::OkStatus() : why; });
  EXPECT_EQ(a->closed(), why);
  EXPECT_EQ(b->closed(), std::nullopt);
  EXPECT_EQ(server->closed(), std::nullopt);
  EXPECT_NE(table_.Find(number), nullptr);
  std::set<std::string> ids;
  table_.AddMembers(ids);
  EXPECT_THAT(ids, ElementsAre("a", "b", "server"));
}

}  // namespace
}  // namespace attune
