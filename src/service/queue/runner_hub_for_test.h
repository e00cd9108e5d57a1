// A hub of runners, and machines that speak to it as the test says.
#ifndef ATTUNE_SERVICE_QUEUE_RUNNER_HUB_FOR_TEST_H_
#define ATTUNE_SERVICE_QUEUE_RUNNER_HUB_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "device/codec.h"
#include "fleet/server/mailbox.h"
#include "service/queue/runner_hub.h"
#include "service/wire/checked_messages.h"
#include "service/wire/job_files.h"
#include "target/target.h"
#include "work/driver/runner_messages.h"

namespace attune {

// A runner's machine, as the hub sees it.
class MachineOfTest {
 public:
  MachineOfTest(RunnerHub& hub, const std::string& owner, const std::string& id) : hub_(hub) {
    number_ =
        hub.Add({.who = {.role = FleetRole::kRunner, .owner = owner, .id = id}, .serial = id}, mailbox_);
  }

  static jobs_service_proto::RunnerHello Hello() {
    jobs_service_proto::RunnerHello hello;
    hello.set_version(kJobsVersion);
    hello.set_device(EncodeDevice({.fingerprint = "board",
                                   .target = *TargetByName("x86-64-v3"),
                                   .usable = {0, 1},
                                   .processors = {{.number = 0}, {.number = 1, .core = 1, .cache = 1}}}));
    hello.set_memory_bytes(1 << 30);
    hello.add_programs("zip");
    return hello;
  }
  void Join(const jobs_service_proto::RunnerHello& hello = Hello()) {
    jobs_service_proto::FromRunner message;
    *message.mutable_hello() = hello;
    hub_.Receive(number_, message);
  }
  void Report(const std::string& job, const std::string& report, const std::vector<JobFile>& files = {}) {
    jobs_service_proto::FromRunner message;
    message.mutable_reported()->set_job(job);
    message.mutable_reported()->set_report(report);
    *message.mutable_reported()->mutable_files() = ToWire(files);
    hub_.Receive(number_, message);
  }
  void Leave() { hub_.Remove(number_); }

  int64_t number() const { return number_; }
  std::vector<jobs_service_proto::ToRunner> Take() { return mailbox_->Take(); }
  std::string closed() const { return mailbox_->closed() ? mailbox_->closed()->ToString() : ""; }

 private:
  RunnerHub& hub_;
  const std::shared_ptr<Mailbox<jobs_service_proto::ToRunner>> mailbox_ =
      std::make_shared<Mailbox<jobs_service_proto::ToRunner>>();
  int64_t number_ = 0;
};

class RunnerHubTest : public ::testing::Test {
 protected:
  static constexpr char kFilesOwner[] = "files of a job";

  // A runner with a job, on this machine.
  int64_t Assign(MachineOfTest& machine, const std::string& job) { return Assign(machine, job, hub_); }
  static int64_t Assign(MachineOfTest& machine, const std::string& job, RunnerHub& hub) {
    constexpr int kHost = 3;
    hub.SetHost(machine.number(), kHost);
    const auto runner = hub.Start(kHost);
    EXPECT_TRUE(runner.ok()) << runner.status();
    AssignJob assign;
    assign.spec.id = job;
    assign.place.processors = 2;
    hub.Send(*runner, assign);
    hub.Send(*runner, RunStage());
    return *runner;
  }
  // The reason for which the runner was lost, or the report's result.
  std::string Event(int64_t runner) {
    for (const RunnerEvent& event : hub_.Await(0)) {
      if (event.runner != runner) continue;
      if (const auto* lost = std::get_if<RunnerLost>(&event.what)) return "lost: " + lost->reason;
      return std::get<RunnerStageEnded>(std::get<RunnerReport>(event.what)).result;
    }
    return "";
  }
  void KeepFile(const std::string& content) {
    ASSERT_TRUE(files_->Append(kFilesOwner, Sha256Hex(content), 0, content).ok());
    ASSERT_TRUE(files_->Finish(kFilesOwner, Sha256Hex(content)).ok());
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<BlobStore> files_ = *BlobStore::Open(folder_.path(), {});
  absl::StatusOr<JobSupplies> supplies_ =
      JobSupplies{.spec = {.id = "job", .kind = "mock"},
                  .files = {{"in/model", Sha256Hex("m"), 1}, {"state", Sha256Hex("s"), 1}},
                  .files_owner = kFilesOwner};
  RunnerHub hub_{*files_, [this](const std::string&) { return supplies_; }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_RUNNER_HUB_FOR_TEST_H_
