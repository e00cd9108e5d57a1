// Reports of runners about stages, and what becomes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "artifact/reader.h"
#include "measure/blob.h"
#include "service/queue/artifact_for_test.h"
#include "service/queue/runner_hub_for_test.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::HasSubstr;

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

using RunnerReportsTest = RunnerHubTest;

TEST_F(RunnerReportsTest, AReportCountsOnceItsFilesAreThere) {
  MachineOfTest machine(hub_, "ann", "runner-1");
  machine.Join();
  const int64_t runner = Assign(machine, "job");
  ASSERT_NE(hub_.SuppliesOf("runner-1", "job"), nullptr);
  EXPECT_EQ(hub_.SuppliesOf("runner-1", "job")->files_owner, kFilesOwner);
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
TEST_F(RunnerReportsTest, AReportThatComesTooLateIsToldOf) {
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
  EXPECT_EQ(late, (std::vector<std::string>{"job", kFilesOwner}));
}

TEST_F(RunnerReportsTest, ReportsOfLiarsAreLosses) {
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

TEST_F(RunnerReportsTest, WhoeverReportsWhatNoRunnerReportsIsOut) {
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

TEST_F(RunnerReportsTest, TextsOfJobsAreForPeople) {
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

// A file that was replaced behind the back of the process that has built another one.
TEST_F(RunnerReportsTest, AnotherNetworksArtifactIsNeverSigned) {
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
  const auto blob = files_->Read(kFilesOwner, file.digest);
  ASSERT_TRUE(blob.ok()) << blob.status();
  ArtifactView view;
  ASSERT_TRUE(ParseArtifact(MappedFile::Map(blob->first.get())->bytes(), &view).ok());
  ASSERT_EQ(view.signatures.size(), 1u);
  EXPECT_EQ(view.signatures[0].key, signer.KeysOf("ann")->front().public_key());
}

TEST_F(RunnerReportsTest, AJobMayFailByWhatItSends) {
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

TEST_F(RunnerReportsTest, AJobThatSendsWithoutAStageIsLost) {
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

}  // namespace
}  // namespace attune
