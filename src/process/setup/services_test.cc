#include "process/setup/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/credentials.h"
#include "fleet/server/fleet_for_test.h"
#include "process/setup/supervised_service.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(CheckClock, NamesAClockThatIsBeforeACertificate) {
  const testing::TemporaryFolder folder;
  const Installation installation = {.folder = folder.path(), .agents = 1};
  ManualClock clock;
  EXPECT_TRUE(CheckClock(installation, clock).ok());  // no member has a certificate yet
  const auto authority = CertificateAuthority::Create(clock);
  ASSERT_TRUE(authority.ok()) << authority.status();
  const auto key = PrivateKey::Generate();
  const FleetIdentity who = {.role = FleetRole::kAgent, .owner = "ann", .id = "agent-1"};
  ASSERT_TRUE(SaveCredentials(installation.AgentFolder(1),
                              {.server = "127.0.0.1:1",
                               .authorities_pem = authority->certificate_pem(),
                               .certificate_pem = *authority->Sign(*key->Request(), who, 86400, {}, clock),
                               .key_pem = *key->Pem()})
                  .ok());
  EXPECT_TRUE(CheckClock(installation, clock).ok());
  clock.JumpWall(-600);
  const absl::Status wrong = CheckClock(installation, clock);
  EXPECT_TRUE(absl::IsUnavailable(wrong)) << wrong;
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("is a clock wrong?"));
}

TEST(SupervisedService, ItsLogIsNoLink) {
  const testing::TemporaryFolder folder;
  const std::string log = folder / "x.log", victim = folder / "victim";
  std::filesystem::create_symlink(victim, log);
  SupervisedService service({.name = "x", .arguments = {"attune", "--version"}, .log = log});
  service.Tick();
  EXPECT_EQ(service.state().pid, 0);
  EXPECT_THAT(service.state().end, HasSubstr("is a symbolic link"));
  EXPECT_FALSE(std::filesystem::exists(victim));
}

TEST(ServicesTest, AMachineTakesThePlaceOfThoseThatAreAway) {
  FleetOfTest fleet;
  const auto operators = fleet.Operator();
  auto agent = fleet.Agent([](const MeasureItem&) { return MockAnswer(); });
  fleet.AwaitDevices(1);
  EXPECT_TRUE(ForgetReplaced(*operators, "desk", "another board").ok());
  EXPECT_EQ(operators->Devices("desk")->size(), 1);  // it is there
  agent.reset();
  fleet.AwaitDevices(0);
  EXPECT_TRUE(ForgetReplaced(*operators, "attic", "another board").ok());
  EXPECT_TRUE(ForgetReplaced(*operators, "desk", DeviceOfTest().fingerprint).ok());
  EXPECT_EQ(operators->Devices("desk")->size(), 1);  // as it was
  EXPECT_TRUE(ForgetReplaced(*operators, "desk", "another board").ok());
  EXPECT_EQ(operators->Devices("desk")->size(), 0);
}

}  // namespace
}  // namespace attune
