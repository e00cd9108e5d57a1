#include "service/queue/job_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/clock.h"
#include "service/queue/fleet_parts_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class JobCredentialsTest : public ::testing::Test {
 protected:
  static JobSpec Spec(const std::string& id, int priority = 0) {
    return {.id = id, .kind = "mock", .owner = "ann", .priority = priority};
  }
  // The ids of members whose certificates are valid.
  std::set<std::string> Valid() {
    std::set<std::string> ids;
    const auto valid = *fleet_.store->ValidCertificates(SystemClock().WallMillis());
    for (const IssuedCertificate& certificate : valid) ids.insert(certificate.facts.who.id);
    return ids;
  }
  void Give(const JobSpec& job) {
    const absl::StatusOr<std::string> credentials = credentials_.New(job);
    ASSERT_TRUE(credentials.ok()) << credentials.status();
    EXPECT_NE(*credentials, "");
  }

  FleetPartsOfTest fleet_;
  JobCredentials credentials_{fleet_.parts()};
};

TEST_F(JobCredentialsTest, AJobMeasuresAsAClientOfItsOwner) {
  Give(Spec("net-1@ann", 1));
  const auto certificates = *fleet_.store->ValidCertificates(SystemClock().WallMillis());
  ASSERT_EQ(certificates.size(), 1);
  const FleetIdentity& who = certificates.front().facts.who;
  EXPECT_EQ(who.role, FleetRole::kClient);
  EXPECT_EQ(who.owner, "ann");
  EXPECT_THAT(fleet_.devices.priorities(), ElementsAre(Pair(who.id, 1)));
}

TEST_F(JobCredentialsTest, AJobThatMovesGetsNewOnes) {
  Give(Spec("net-1@ann"));
  const std::set<std::string> before = Valid();
  Give(Spec("net-1@ann"));
  EXPECT_EQ(Valid().size(), 1);
  EXPECT_NE(Valid(), before);
  EXPECT_EQ(fleet_.devices.priorities().size(), 1);
}

TEST_F(JobCredentialsTest, ThoseOfJobsThatAreOverEnd) {
  Give(Spec("net-1@ann"));
  const std::set<std::string> first = Valid();
  Give(Spec("net-2@ann"));
  ASSERT_TRUE(credentials_.KeepOnly({"net-1@ann", "net-3@ann"}).ok());
  EXPECT_EQ(Valid(), first);
  ASSERT_TRUE(credentials_.KeepOnly({}).ok());
  EXPECT_THAT(Valid(), IsEmpty());
  EXPECT_THAT(fleet_.devices.priorities(), IsEmpty());
}

TEST_F(JobCredentialsTest, ThoseOfAnEarlierServerEndAndOthersStay) {
  Give(Spec("net-1@ann"));
  const auto agent =
      fleet_.admission.NewCredentials({.role = FleetRole::kAgent, .owner = "ann", .id = "agent"});
  ASSERT_TRUE(agent.ok()) << agent.status();
  JobCredentials later(fleet_.parts());
  ASSERT_TRUE(later.RevokeAll().ok());
  ASSERT_EQ(Valid().size(), 1);
  EXPECT_TRUE(Valid().begin()->starts_with("agent"));
}

}  // namespace
}  // namespace attune
