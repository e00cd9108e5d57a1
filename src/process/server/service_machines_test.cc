// The machines that run a server's jobs: whose they are, and what happens while they are away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "base/process/sandbox.h"
#include "process/server/service_for_test.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::AllOf;
using ::testing::HasSubstr;

using ServiceMachinesTest = ServiceTest;

TEST_F(ServiceMachinesTest, AJobWaitsForARunnerOfItsOwner) {
  const auto runner = Runner("bob");
  const auto id = Submit("ann", MockJob(R"({"name": "s"})"));
  ASSERT_TRUE(id.ok()) << id.status();
  const proto::JobDetail detail =
      Await("ann", *id, [](const auto& shown) { return !shown.job().waits_for().empty(); });
  EXPECT_EQ(detail.job().waits_for(),
            "a machine that runs jobs of ann: none has joined; an operator invites one with attune fleet "
            "invite --role runner --owner ann");
  const auto own = Runner("ann");
  EXPECT_EQ(AwaitEnd("ann", *id).job().state(), "done");
}

TEST_F(ServiceMachinesTest, ARunnerOfTheServersRunsTheJobsOfAllOwners) {
  if (!CanForbidFiles()) GTEST_SKIP() << "the system cannot keep jobs from each other's files";
  const auto runner = Runner("server");
  const auto of_ann = Submit("ann", MockJob(R"({"name": "s"})")),
             of_bob = Submit("bob", MockJob(R"({"name": "s"})"));
  ASSERT_TRUE(of_ann.ok() && of_bob.ok());
  EXPECT_EQ(AwaitEnd("ann", *of_ann).job().state(), "done");
  EXPECT_EQ(AwaitEnd("bob", *of_bob).job().state(), "done");
  // Programs are not confined, and so its owner's alone.
  const auto own = Submit("server", CountJob(1)), others = Submit("ann", CountJob(1));
  ASSERT_TRUE(own.ok() && others.ok());
  EXPECT_EQ(AwaitEnd("server", *own).job().state(), "done");
  const proto::JobDetail waits =
      Await("ann", *others, [](const auto& shown) { return !shown.job().waits_for().empty(); });
  EXPECT_EQ(waits.job().waits_for(), "a machine of ann that lists the program count");
}

TEST_F(ServiceMachinesTest, AMachineThatIsAwayIsNamed) {
  auto runner = Runner("ann");
  const auto first = Submit("ann", MockJob(R"({"name": "s"})"));
  ASSERT_TRUE(first.ok()) << first.status();
  AwaitEnd("ann", *first);
  runner.reset();
  const auto id = Submit("ann", MockJob(R"({"name": "s"})"));
  ASSERT_TRUE(id.ok()) << id.status();
  const auto waits = [](const auto& shown) { return !shown.job().waits_for().empty(); };
  EXPECT_THAT(Await("ann", *id, waits).job().waits_for(),
              AllOf(HasSubstr("its machine to come back: runner-"), HasSubstr("is not connected")));
  // Nor does it frighten anybody when the server starts again.
  fleet_.StopServer();
  fleet_.StartServer();
  EXPECT_THAT(Await("ann", *id, waits).job().waits_for(), HasSubstr("its machine to come back"));
}

TEST_F(ServiceMachinesTest, AMachineThatIsTooSmallIsNotWaitedForInVain) {
  const auto runner = Runner("ann");
  proto::SubmittedJob job = MockJob(R"({"name": "s", "processors": 60000})");
  const auto id = Submit("ann", job);
  ASSERT_TRUE(id.ok()) << id.status();
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().state(), "failed");
  EXPECT_THAT(detail.job().error(),
              HasSubstr("its machine does not have what its stage \"s\" needs: 60000 processors"));
}

TEST_F(ServiceMachinesTest, ADeviceThatIsAwayIsNamed) {
  auto agent = fleet_.Agent([](const MeasureItem&) { return MockAnswer(); });
  fleet_.AwaitDevices(1);
  agent.reset();
  fleet_.AwaitDevices(0);
  const auto runner = Runner("ann");
  proto::SubmittedJob job = MockJob(R"({"name": "time", "device": true})");
  job.set_on("desk");
  const auto id = Submit("ann", job);
  ASSERT_TRUE(id.ok()) << id.status();
  Await("ann", *id, [](const auto& shown) {
    return absl::StrContains(shown.job().waits_for(), "its device to come back: agent-");
  });
}

TEST_F(ServiceMachinesTest, ARunnerThatIsLostLosesOneStage) {
  auto first = Runner("ann");
  const auto id = Submit("ann", CountJob(40));
  ASSERT_TRUE(id.ok()) << id.status();
  Await("ann", *id, [](const auto& shown) { return DoneStages(shown) >= 3; });
  first.reset();
  const auto second = Runner("ann");
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().state(), "done") << detail.job().error();
  // No stage was lost or counted twice, whatever the first runner had in its folder.
  EXPECT_EQ(detail.job().result(), R"({"count":40})");
  EXPECT_EQ(DoneStages(detail), 40);
}

TEST_F(ServiceMachinesTest, ARevokedRunnerIsOut) {
  auto runner = Runner("ann");
  const auto id = Submit("ann", MockJob(R"({"name": "s"})"));
  EXPECT_EQ(AwaitEnd("ann", *id).job().state(), "done");
  const auto credentials = LoadCredentials(fleet_.folder().path() + "/runner1");
  const auto facts = ReadCertificate(credentials->certificate_pem);
  ASSERT_TRUE(fleet_.Operator()->Revoke(facts->who.id, "test").ok());
  EXPECT_THAT(runner->AwaitEnd().message(), HasSubstr("revoked"));
}

}  // namespace
}  // namespace attune
