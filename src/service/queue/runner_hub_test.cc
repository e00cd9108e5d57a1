#include "service/queue/runner_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "artifact/reader.h"
#include "base/file.h"
#include "base/log.h"
#include "base/testing/temporary_folder.h"
#include "device/codec.h"
#include "fleet/server/mailbox.h"
#include "measure/blob.h"
#include "service/queue/artifact_for_test.h"
#include "service/wire/job_files.h"
#include "service/wire/version.h"
#include "target/target.h"
#include "work/driver/runner_messages.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::HasSubstr;

constexpr char kOwner[] = "files of a job";

// A runner's machine, as the hub sees it.
class MachineOfTest {
 public:
  MachineOfTest(RunnerHub& hub, const std::string& owner, const std::string& id) : hub_(hub) {
    number_ =
        hub.Add({.who = {.role = FleetRole::kRunner, .owner = owner, .id = id}, .serial = id}, mailbox_);
  }

  static proto::RunnerHello Hello() {
    proto::RunnerHello hello;
    hello.set_version(kJobsVersion);
    hello.set_device(EncodeDevice({.fingerprint = "board",
                                   .target = *TargetByName("x86-64-v3"),
                                   .usable = {0, 1},
                                   .processors = {{.number = 0}, {.number = 1, .core = 1, .cache = 1}}}));
    hello.set_memory_bytes(1 << 30);
    hello.add_programs("zip");
    return hello;
  }
  void Join(const proto::RunnerHello& hello = Hello()) {
    proto::FromRunner message;
    *message.mutable_hello() = hello;
    hub_.Receive(number_, message);
  }
  void Report(const std::string& job, const std::string& report, const std::vector<JobFile>& files = {}) {
    proto::FromRunner message;
    message.mutable_reported()->set_job(job);
    message.mutable_reported()->set_report(report);
    *message.mutable_reported()->mutable_files() = ToWire(files);
    hub_.Receive(number_, message);
  }
  void Leave() { hub_.Remove(number_); }

  int64_t number() const { return number_; }
  std::vector<proto::ToRunner> Take() { return mailbox_->Take(); }
  std::string closed() const { return mailbox_->closed() ? mailbox_->closed()->ToString() : ""; }

 private:
  RunnerHub& hub_;
  const std::shared_ptr<Mailbox<proto::ToRunner>> mailbox_ = std::make_shared<Mailbox<proto::ToRunner>>();
  int64_t number_ = 0;
};

// A store that calls a function whenever a blob is read.
class WatchedStore final : public BlobStore {
 public:
  WatchedStore(BlobStore& store, std::function<void()> on_read)
      : store_(store), on_read_(std::move(on_read)) {}

  absl::StatusOr<int64_t> Sent(const std::string& owner, const std::string& digest) override {
    return store_.Sent(owner, digest);
  }
  absl::Status Append(const std::string& owner, const std::string& digest, int64_t offset,
                      std::string_view bytes) override {
    return store_.Append(owner, digest, offset, bytes);
  }
  absl::Status Finish(const std::string& owner, const std::string& digest) override {
    return store_.Finish(owner, digest);
  }
  bool Has(const std::string& owner, const std::string& digest) override { return store_.Has(owner, digest); }
  absl::StatusOr<std::pair<FileDescriptor, int64_t>> Read(const std::string& owner,
                                                          const std::string& digest) override {
    on_read_();
    return store_.Read(owner, digest);
  }
  absl::Status Share(const std::string& from, const std::string& to, const std::string& digest) override {
    return store_.Share(from, to, digest);
  }
  absl::Status Forget(const std::string& owner, const std::string& digest) override {
    return store_.Forget(owner, digest);
  }
  absl::Status ForgetAllBut(const std::string& owner, const std::set<std::string>& digests) override {
    return store_.ForgetAllBut(owner, digests);
  }
  int64_t bytes() const override { return store_.bytes(); }

 private:
  BlobStore& store_;
  const std::function<void()> on_read_;
};

// A stage that wants this for itself.
JobStage Wanting(const std::string& key) {
  return {.name = "x", .needs = {{.key = key, .exclusive = true}}, .memory_bytes = 0, .seconds = {}};
}

class RunnerHubTest : public ::testing::Test {
 protected:
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
    ASSERT_TRUE(files_->Append(kOwner, Sha256Hex(content), 0, content).ok());
    ASSERT_TRUE(files_->Finish(kOwner, Sha256Hex(content)).ok());
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<BlobStore> files_ = *BlobStore::Open(folder_.path(), {});
  absl::StatusOr<JobSupplies> supplies_ =
      JobSupplies{.spec = {.id = "job", .kind = "mock"},
                  .files = {{"in/model", Sha256Hex("m"), 1}, {"state", Sha256Hex("s"), 1}},
                  .files_owner = kOwner};
  RunnerHub hub_{*files_, [this](const std::string&) { return supplies_; }};
};

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

TEST_F(RunnerHubTest, AReportCountsOnceItsFilesAreThere) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  const int64_t runner = Assign(machine, "job");
  ASSERT_NE(hub_.SuppliesOf("runner-1", "job"), nullptr);
  EXPECT_EQ(hub_.SuppliesOf("runner-1", "job")->files_owner, kOwner);
  EXPECT_EQ(hub_.SuppliesOf("runner-2", "job"), nullptr);
  KeepFile("new");
  RunnerStageEnded ended;
  ended.result = "{}";
  machine.Report("job", Encode(RunnerReport(ended)), {{"state", Sha256Hex("new"), 3}});
  const std::vector<RunnerEvent> events = hub_.Await(0);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].runner, runner);
  const auto& report = std::get<RunnerStageEnded>(std::get<RunnerReport>(events[0].what));
  // The inputs stay, even if the machine names none.
  const std::vector<JobFile> expected = {{"in/model", Sha256Hex("m"), 1}, {"state", Sha256Hex("new"), 3}};
  EXPECT_EQ(report.files, expected);
}

// Its files may have come after orphaned ones were removed.
TEST_F(RunnerHubTest, AReportThatComesTooLateIsToldOf) {
  RunnerHub* ending = nullptr;
  int64_t runner = 0;
  WatchedStore store(*files_, [&] { ending->End(runner); });
  std::vector<std::string> late;
  RunnerHub hub(
      store, [this](const std::string&) { return supplies_; }, nullptr, SystemClock(),
      [&](const std::string& job, const std::string& files_owner) { late = {job, files_owner}; });
  ending = &hub;
  MachineOfTest machine(hub, "ann", "runner-1");
  machine.Join();
  runner = Assign(machine, "job", hub);
  KeepFile("new");
  RunnerStageEnded ended;
  ended.result = "{}";
  machine.Report("job", Encode(RunnerReport(ended)), {{"state", Sha256Hex("new"), 3}});
  EXPECT_TRUE(hub.Await(0).empty());
  EXPECT_EQ(late, (std::vector<std::string>{"job", kOwner}));
}

TEST_F(RunnerHubTest, ReportsOfLiarsAreLosses) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  const std::string ended = Encode(RunnerReport(RunnerStageEnded()));
  KeepFile("x");
  const std::string digest = Sha256Hex("x");
  const auto with = [](const auto& change) {
    RunnerStageEnded lie;
    change(lie);
    return Encode(RunnerReport(lie));
  };
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::vector<std::pair<std::string, std::vector<JobFile>>> lies = {
      {with([&](auto& lie) { lie.result = deep; }), {}},
      {with([&](auto& lie) { lie.figures = deep; }), {}},
      {with([](auto& lie) { lie.result = "no JSON"; }), {}},
      {with([](auto& lie) { lie.figures = "\"" + std::string(kMaxFiguresBytes, 'x') + "\""; }), {}},
      // Another's device for itself.
      {with([](auto& lie) { lie.next = Wanting("desk"); }), {}},
      {ended, {{"state", Sha256Hex("never sent"), 1}}},
      {ended, {{"state", digest, 77}}},
      {ended, {{"../state", digest, 1}}},
      {ended, {{"in/model", digest, 1}}},
      {ended, {{"state", digest, 1}, {"state", digest, 1}}},
      {ended, {{"state", digest, INT64_MAX}}},
      {ended, {{"state", digest, -1}}},
      {ended, {{"a\nb", digest, 1}}},
  };
  for (const auto& [report, files] : lies) {
    const int64_t runner = Assign(machine, "job");
    machine.Take();
    machine.Report("job", report, files);
    EXPECT_THAT(Event(runner), HasSubstr("lost: "));
    EXPECT_TRUE(machine.Take().at(0).has_end());
  }
}

TEST_F(RunnerHubTest, WhoeverReportsWhatNoRunnerReportsIsOut) {
  const std::string ended = Encode(RunnerReport(RunnerStageEnded()));
  RunnerStageEnded boundless;
  boundless.next = {.name = "x", .needs = {}, .memory_bytes = INT64_MAX, .seconds = {}};
  for (const std::string& report :
       {std::string("nonsense"), Encode(RunnerReport(RunnerRegistered())), Encode(RunnerReport(boundless))}) {
    MachineOfTest machine(hub_, "ann", "runner-1");
    machine.Join();
    Assign(machine, "job");
    hub_.TakeChangedMachines();
    machine.Report("job", report);
    EXPECT_THAT(machine.closed(), HasSubstr("INVALID_ARGUMENT"));
    EXPECT_TRUE(hub_.TakeChangedMachines()->empty());  // its jobs continue elsewhere
    EXPECT_TRUE(hub_.Await(0).empty());
  }
  // The end of a stage that was not started.
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  Assign(machine, "job");
  machine.Report("job", ended);
  EXPECT_EQ(machine.closed(), "");
  machine.Report("job", ended);
  EXPECT_THAT(machine.closed(), HasSubstr("was not started"));
}

TEST_F(RunnerHubTest, TextsOfJobsAreForPeople) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  Assign(machine, "job");
  RunnerStageEnded ended;
  ended.status = absl::InternalError("\x1b[2J" + std::string(100 * kMaxTextBytes, 'x'));
  machine.Report("job", Encode(RunnerReport(ended)));
  const std::vector<RunnerEvent> events = hub_.Await(0);
  ASSERT_EQ(events.size(), 1);
  const auto& report = std::get<RunnerStageEnded>(std::get<RunnerReport>(events[0].what));
  EXPECT_THAT(report.status.message(), ::testing::StartsWith("?[2Jxxx"));
  EXPECT_EQ(report.status.message().size(), kMaxTextBytes + 3);
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

// A file that was replaced behind the back of the process that has built another one.
TEST_F(RunnerHubTest, AnotherNetworksArtifactIsNeverSigned) {
  const ArtifactSigner signer = *ArtifactSigner::OpenOrCreate(folder_.path());
  RunnerHub hub(*files_, [this](const std::string&) { return supplies_; }, &signer);
  supplies_->spec = {.id = "job",
                     .kind = "tuning",
                     .owner = "ann",
                     .settings = {{"model", "in/model"}, {"output", "out/net.atn"}}};
  const std::string built = ArtifactOfModel("m"), other = ArtifactOfModel("of another network");
  KeepFile(built);
  KeepFile(other);
  MachineOfTest machine(hub, "ann", "runner-1");
  machine.Join();
  RunnerStageEnded ended;
  ended.result = ResultOfBuilt(built).dump();
  const auto hand_in = [&](const std::string& content) {
    Assign(machine, "job", hub);
    machine.Report("job", Encode(RunnerReport(ended)),
                   {{"out/net.atn", Sha256Hex(content), std::ssize(content)}});
    return hub.Await(0).back();
  };
  const RunnerEvent refused = hand_in(other);
  EXPECT_THAT(std::get<RunnerLost>(refused.what).reason,
              HasSubstr("out/net.atn: is not the artifact that the job has built: "));
  const RunnerEvent taken = hand_in(built);
  const auto& report = std::get<RunnerStageEnded>(std::get<RunnerReport>(taken.what));
  const JobFile& file = report.files->back();
  EXPECT_EQ(file.name, "out/net.atn");
  const auto blob = files_->Read(kOwner, file.digest);
  ASSERT_TRUE(blob.ok()) << blob.status();
  ArtifactView view;
  ASSERT_TRUE(ParseArtifact(MappedFile::Map(blob->first.get())->bytes(), &view).ok());
  ASSERT_EQ(view.signatures.size(), 1u);
  EXPECT_EQ(view.signatures[0].key, signer.KeysOf("ann")->front().public_key());
}

TEST_F(RunnerHubTest, AJobMayFailByWhatItSends) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  const int64_t runner = Assign(machine, "job");
  Assign(machine, "other");
  machine.Take();
  const auto supplies = hub_.SuppliesOf("runner-1", "job");
  EXPECT_TRUE(hub_.AreInUse(supplies));
  for (int i = 0; i < 2; ++i) hub_.Fail(supplies, absl::ResourceExhaustedError("too much"));
  EXPECT_FALSE(hub_.AreInUse(supplies));
  const std::vector<RunnerEvent> events = hub_.Await(0);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].runner, runner);
  EXPECT_EQ(std::get<RunnerStageEnded>(std::get<RunnerReport>(events[0].what)).status,
            absl::ResourceExhaustedError("too much"));
  const std::vector<proto::ToRunner> told = machine.Take();
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0].end().job(), "job");
  // Its reports of that job count no more, and it has its other jobs.
  machine.Report("job", Encode(RunnerReport(RunnerStageEnded())));
  EXPECT_TRUE(hub_.Await(0).empty());
  EXPECT_EQ(machine.closed(), "");
  EXPECT_TRUE(hub_.AreInUse(hub_.SuppliesOf("runner-1", "other")));
}

TEST_F(RunnerHubTest, AJobThatSendsWithoutAStageIsLost) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  const int64_t runner = Assign(machine, "job");
  RunnerStageEnded ended;
  ended.result = "{}";
  machine.Report("job", Encode(RunnerReport(ended)));
  EXPECT_EQ(Event(runner), "{}");
  hub_.Fail(hub_.SuppliesOf("runner-1", "job"), absl::ResourceExhaustedError("too much"));
  EXPECT_EQ(Event(runner), "lost: too much");
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
