#include "service/queue/runner_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "service/queue/runner_hub_for_test.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::HasSubstr;

TEST_F(RunnerHubTest, AMachineIsAHostForItsOwnerAndItsPrograms) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  EXPECT_TRUE(hub_.TakeChangedMachines()->empty());
  EXPECT_FALSE(hub_.TakeChangedMachines().has_value());
  machine.Join();
  const auto machines = hub_.TakeChangedMachines();
  ASSERT_EQ(machines->size(), 1);
  const LocalHost& host = machines->begin()->second.host;
  EXPECT_EQ(host.resources.processors, 2);
  EXPECT_TRUE(host.resources.slots.contains(OwnerSlot("ann")));
  EXPECT_TRUE(host.resources.slots.contains(ProgramSlot("ann", "zip")));
  EXPECT_EQ(host.resources.slots.size(), 2);
  EXPECT_TRUE(machine.Take().at(0).has_welcome());
  machine.Leave();
  EXPECT_TRUE(hub_.TakeChangedMachines()->empty());
}

TEST_F(RunnerHubTest, AMachineOfTheServersIsForAllIfItKeepsJobsApart) {
  for (const bool confines : {false, true}) {
    for (const char* owner : {"ann", "server"}) {
      MachineOfTest machine(hub_, owner, "runner-1");
      proto::RunnerHello hello = MachineOfTest::Hello();
      hello.set_confines(confines);
      machine.Join(hello);
      const HostResources host = hub_.TakeChangedMachines()->begin()->second.host.resources;
      EXPECT_NE(FindSlot(host, OwnerSlot(owner)), nullptr);
      EXPECT_EQ(FindSlot(host, OwnerSlot("bob")) != nullptr, confines && owner == std::string("server"));
      EXPECT_EQ(FindSlot(host, ProgramSlot("bob", "zip")), nullptr);
      machine.Leave();
    }
  }
}

TEST_F(RunnerHubTest, RefusesMachinesThatMakeNoSense) {
  proto::RunnerHello hello = MachineOfTest::Hello();
  hello.set_version(kJobsVersion + 1);
  MachineOfTest newer(hub_, "ann", "runner-1");
  newer.Join(hello);
  EXPECT_THAT(newer.closed(), HasSubstr("update the older of the two"));
  const std::function<void(proto::RunnerHello&)> lies[] = {
      [](auto& lie) { lie.set_device("nonsense"); },
      [](auto& lie) { lie.set_memory_bytes(-1); },
      [](auto& lie) { lie.set_memory_bytes(INT64_MAX); },
      [](auto& lie) { lie.set_program(std::string(size_t{1} << 20, 'x')); },
      [](auto& lie) { lie.add_programs("a\nb"); },
      [](auto& lie) { lie.add_programs(""); },
      [](auto& lie) {
        for (int i = 0; i < kMaxProgramsOfRunner; ++i) lie.add_programs("x");
      },
  };
  for (const auto& change : lies) {
    hello = MachineOfTest::Hello();
    change(hello);
    MachineOfTest damaged(hub_, "ann", "runner-2");
    damaged.Join(hello);
    EXPECT_THAT(damaged.closed(), HasSubstr("INVALID_ARGUMENT"));
  }
  MachineOfTest twice(hub_, "ann", "runner-3");
  twice.Join();
  twice.Join();
  EXPECT_THAT(twice.closed(), HasSubstr("introduces itself twice"));
}

TEST_F(RunnerHubTest, CredentialsThatTwoPlacesUseAreAWarning) {
  std::vector<std::unique_ptr<MachineOfTest>> machines;
  for (int i = 0; i <= SharedCredentials::kReplaced; ++i) {
    EXPECT_EQ(hub_.NumShared(), 0);
    machines.push_back(std::make_unique<MachineOfTest>(hub_, "ann", "runner-1"));
    machines.back()->Join();
    EXPECT_EQ(machines.back()->closed(), "");
    if (i > 0) EXPECT_THAT(machines[machines.size() - 2]->closed(), HasSubstr("has connected again"));
    EXPECT_EQ(hub_.TakeChangedMachines()->size(), 1);
  }
  EXPECT_EQ(hub_.NumShared(), 1);
}

TEST_F(RunnerHubTest, NobodyReportsForAJobThatAnotherHas) {
  MachineOfTest machine(hub_, "ann", "runner-1"), other(hub_, "bob", "runner-2");
  machine.Join();
  other.Join();
  Assign(machine, "job");
  other.Report("job", Encode(RunnerReport(RunnerStageEnded())));
  proto::FromRunner lost;
  lost.mutable_lost()->set_job("job");
  hub_.Receive(other.number(), lost);
  EXPECT_TRUE(hub_.Await(0).empty());
}

TEST_F(RunnerHubTest, AReasonIsText) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  const int64_t runner = Assign(machine, "job");
  proto::FromRunner lost;
  lost.mutable_lost()->set_job("job");
  lost.mutable_lost()->set_reason("\x1b[2J\xFF");
  hub_.Receive(machine.number(), lost);
  EXPECT_EQ(Event(runner), "lost: ?[2J?");
}

TEST_F(RunnerHubTest, AJobWithoutSuppliesIsNotToBlame) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  supplies_ = absl::UnavailableError("the disk is full");
  const int64_t runner = Assign(machine, "job");
  const std::vector<RunnerEvent> events = hub_.Await(0);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].runner, runner);
  EXPECT_FALSE(std::get<RunnerLost>(events[0].what).may_be_jobs_fault);
}

TEST_F(RunnerHubTest, AnotherScheduleBeginsWithoutRunners) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  hub_.TakeChangedMachines();
  Assign(machine, "job");
  machine.Take();
  hub_.EndAll();
  EXPECT_TRUE(machine.Take().at(0).has_end());
  EXPECT_EQ(hub_.TakeChangedMachines()->size(), 1);
  EXPECT_TRUE(absl::IsUnavailable(hub_.Start(3).status()));
}

TEST_F(RunnerHubTest, RevokedMachinesAreOut) {
  MachineOfTest machine(hub_, "ann", "runner-1"), other(hub_, "ann", "runner-2");
  hub_.Close([](const CertificateFacts& facts) {
    return facts.serial == "runner-1" ? CertificateIsRevoked() : absl::OkStatus();
  });
  EXPECT_THAT(machine.closed(), HasSubstr("revoked"));
  EXPECT_EQ(other.closed(), "");
}

}  // namespace
}  // namespace attune
