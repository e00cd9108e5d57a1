// The server, runners and clients together, over the loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process/sandbox.h"
#include "base/testing/await_that.h"
#include "device/codec.h"
#include "fleet/server/fleet_for_test.h"
#include "fleet/server/proxy_for_test.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/rpc_status.h"
#include "process/server/job_server_for_test.h"
#include "service/queue/job_server.h"
#include "service/runner/runner_for_test.h"
#include "service/wire/jobs.grpc.pb.h"
#include "service/wire/version.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A program that keeps a count in its folder, and tells it: each stage adds a line to out/count.
constexpr char kProgram[] = R"(
import json, os, sys
opening = json.loads(sys.stdin.readline())
os.makedirs("out", exist_ok=True)
def count():
    return len(open("out/count").readlines()) if os.path.exists("out/count") else 0
def answer():
    settings = opening["settings"]
    if count() >= settings["stages"]:
        path = {"file": opening["folder"] + "/out/count"} if settings.get("tells_path") else {}
        print(json.dumps({"done": {"count": count(), **path}}), flush=True)
    else:
        stage = {"name": "count", "needs": [{"key": "processors", "amount": 1}]}
        print(json.dumps({"stage": stage}), flush=True)
answer()
for line in sys.stdin:
    with open("out/count", "a") as file:
        file.write("line\n")
    answer()
)";

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest()
      : fleet_([this](const std::string& folder, const FleetParts& parts) {
          JobScheduleOptions options = {.folder = folder + "/jobs",
                                        .strategy = FindSchedulingStrategy("fair_share")};
          options.storage_quota = [this](const std::string&) -> absl::StatusOr<StorageShare> {
            return StorageShare{.quota_bytes = quota_bytes_};
          };
          auto made = std::make_unique<JobServerOfTest>(options, parts);
          desk_ = &made->jobs().desk();
          blobs_ = &parts.blobs;
          return made;
        }) {}

  void SetUp() override { SetLogLevel(LogLevel::kError); }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  // `server`: the address by which it reaches the server, if it is another than the server's own.
  std::unique_ptr<RunnerOfTest> Runner(const std::string& owner, const std::string& server = "") {
    JobRunnerOptions options;
    options.folder = fleet_.folder().path() + "/runner" + std::to_string(++num_runners_);
    const std::string program = fleet_.folder().path() + "/count.py";
    EXPECT_TRUE(WriteFileAtomically(program, kProgram).ok());
    options.programs["count"] = {"python3", program};
    FleetCredentials credentials = fleet_.Enrol("runner", owner);
    if (!server.empty()) credentials.server = server;
    EXPECT_TRUE(SaveCredentials(options.folder, credentials).ok());
    return std::make_unique<RunnerOfTest>(options);
  }

  static proto::SubmittedJob MockJob(const std::string& stages, int repeat = 1) {
    proto::SubmittedJob job;
    job.set_name("mock");
    job.set_kind("mock");
    job.set_settings(absl::StrCat("{\"stages\": [", stages, "], \"repeat\": ", repeat, "}"));
    return job;
  }
  static proto::SubmittedJob CountJob(int stages) {
    proto::SubmittedJob job;
    job.set_name("count");
    job.set_kind("program");
    job.set_settings(absl::StrCat(R"({"program": "count", "settings": {"stages": )", stages, "}}"));
    return job;
  }

  absl::StatusOr<std::string> Submit(const std::string& owner, const proto::SubmittedJob& job,
                                     const std::string& key = "") {
    proto::Submission submission;
    submission.set_key(key.empty() ? "submission " + std::to_string(++num_submissions_) : key);
    *submission.add_jobs() = job;
    const auto jobs = desk_->Submit(owner, "test", submission, *blobs_);
    return jobs.ok() ? absl::StatusOr<std::string>(jobs->front().id()) : jobs.status();
  }
  absl::StatusOr<proto::JobDetail> Show(const std::string& owner, const std::string& id) {
    return desk_->Show({.id = id, .owner = owner});
  }
  // Waits until it holds for the job.
  proto::JobDetail Await(const std::string& owner, const std::string& id,
                         const std::function<bool(const proto::JobDetail&)>& holds) {
    absl::StatusOr<proto::JobDetail> shown;
    testing::AwaitThat([&] {
      shown = Show(owner, id);
      // A server that starts again is away meanwhile.
      if (absl::IsUnavailable(shown.status())) return false;
      EXPECT_TRUE(shown.ok()) << shown.status();
      return !shown.ok() || holds(*shown);
    });
    return shown.ok() ? *std::move(shown) : proto::JobDetail();
  }
  proto::JobDetail AwaitEnd(const std::string& owner, const std::string& id) {
    return Await(owner, id, [](const proto::JobDetail& detail) {
      return detail.job().state() != "waiting" && detail.job().state() != "running";
    });
  }
  static int DoneStages(const proto::JobDetail& detail) {
    return static_cast<int>(std::ranges::count_if(detail.stages(), [](const auto& stage) {
      return stage.outcome() == "done" && stage.name() != "open";
    }));
  }
  std::string ReadFile(const std::string& owner, const std::string& id, const std::string& name) {
    const auto opened = desk_->OpenFile({.id = id, .owner = owner}, name);
    if (!opened.ok()) return opened.status().ToString();
    const InputFile& file = opened->file;
    std::string content(static_cast<size_t>(file.bytes), '\0');
    EXPECT_EQ(pread(file.descriptor.get(), content.data(), content.size(), 0), file.bytes);
    return content;
  }

  // Returns a file of a job, from the place where the job is.
  static absl::Status Send(proto::Jobs::Stub& stub, const std::string& job, const std::string& content,
                           bool is_whole = true) {
    grpc::ClientContext context;
    proto::FileWritten written;
    const auto pieces = stub.WriteFile(&context, &written);
    proto::FilePiece piece;
    piece.set_job(job);
    piece.set_name("out/x");
    piece.set_digest(Sha256Hex(content));
    piece.set_bytes(content);
    piece.set_is_last(is_whole);
    pieces->Write(piece);
    pieces->WritesDone();
    return FromRpc(pieces->Finish());
  }
  // The files of all jobs that the server has whole, and those that have come in part.
  using Numbers = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
  Numbers NumFiles() {
    const auto count = [&](const std::string& folder) {
      return std::distance(
          std::filesystem::directory_iterator(fleet_.folder().path() + "/server/jobs/files/" + folder),
          std::filesystem::directory_iterator());
    };
    return {count("content"), count("partial")};
  }

  std::atomic<int64_t> quota_bytes_ = INT64_MAX;
  JobDesk* desk_ = nullptr;  // of the server that runs now, and what clients have sent to it
  BlobStore* blobs_ = nullptr;
  FleetOfTest fleet_;
  int num_runners_ = 0, num_submissions_ = 0;
};

TEST_F(ServiceTest, RunsAJobAndKeepsItsFiles) {
  const auto runner = Runner("ann");
  const auto id = Submit("ann", CountJob(3));
  ASSERT_TRUE(id.ok()) << id.status();
  EXPECT_EQ(*id, "count-1");
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().state(), "done") << detail.job().error();
  EXPECT_EQ(detail.job().result(), R"({"count":3})");
  EXPECT_EQ(DoneStages(detail), 3);
  ASSERT_EQ(detail.files_size(), 1);
  EXPECT_EQ(detail.files(0).name(), "out/count");
  EXPECT_EQ(ReadFile("ann", *id, "out/count"), "line\nline\nline\n");
}

TEST_F(ServiceTest, NamesFilesAsTheServerKnowsThem) {
  const auto runner = Runner("ann");
  proto::SubmittedJob job = CountJob(1);
  job.set_settings(R"({"program": "count", "settings": {"stages": 1, "tells_path": true}})");
  const auto id = Submit("ann", job);
  ASSERT_TRUE(id.ok()) << id.status();
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().result(), R"({"count":1,"file":"out/count"})") << detail.job().error();
}

TEST_F(ServiceTest, PartsRunOnSeveralRunnersAndAreShownAsOneJob) {
  const auto one = Runner("ann"), two = Runner("ann");
  proto::SubmittedJob job = MockJob(R"({"name": "s", "seconds": 0.05})", 7);
  job.set_parts(3);
  const auto id = Submit("ann", job);
  ASSERT_TRUE(id.ok()) << id.status();
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().state(), "done") << detail.job().error();
  EXPECT_EQ(detail.job().parts(), 3);
  std::map<int, int> stages;
  std::set<std::string> runners;
  for (const proto::StageOfJob& stage : detail.stages()) {
    if (stage.name() == "s") ++stages[stage.part()];
    runners.insert(stage.runner());
  }
  EXPECT_EQ(stages, (std::map<int, int>{{1, 2}, {2, 2}, {3, 3}}));
  EXPECT_EQ(runners.size(), 2);
  // Its parts are not listed.
  const auto list = desk_->List({.owner = "ann"});
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->size(), 1u);
}

TEST_F(ServiceTest, OnlySomeKindsHavePartsAndAClassSaysHowMany) {
  proto::SubmittedJob job = MockJob(R"({"name": "s"})");
  job.set_parts(5);
  EXPECT_THAT(Submit("ann", job).status().message(),
              HasSubstr("a job of class \"standard\" has 1 to 4, and not 5"));
  job.set_priority(1);
  EXPECT_TRUE(Submit("ann", job).ok());
  job.set_parts(-1);
  EXPECT_THAT(Submit("ann", job).status().message(), HasSubstr("parts"));
  job = CountJob(1);
  job.set_parts(2);
  EXPECT_THAT(Submit("ann", job).status().message(), HasSubstr("a program job cannot be split"));
}

TEST_F(ServiceTest, AJobWaitsForARunnerOfItsOwner) {
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

TEST_F(ServiceTest, ARunnerOfTheServersRunsTheJobsOfAllOwners) {
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

TEST_F(ServiceTest, AMachineThatIsAwayIsNamed) {
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

TEST_F(ServiceTest, AMachineThatIsTooSmallIsNotWaitedForInVain) {
  const auto runner = Runner("ann");
  proto::SubmittedJob job = MockJob(R"({"name": "s", "processors": 60000})");
  const auto id = Submit("ann", job);
  ASSERT_TRUE(id.ok()) << id.status();
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().state(), "failed");
  EXPECT_THAT(detail.job().error(),
              HasSubstr("its machine does not have what its stage \"s\" needs: 60000 processors"));
}

TEST_F(ServiceTest, ADeviceThatIsAwayIsNamed) {
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

TEST_F(ServiceTest, ARunnerThatIsLostLosesOneStage) {
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

TEST_F(ServiceTest, FilesThatNoReportNamesAreForgotten) {
  const auto stub = proto::Jobs::NewStub(ConnectFleet(fleet_.Enrol("runner", "ann")));
  grpc::ClientContext context;
  const auto stream = stub->Run(&context);
  proto::FromRunner hello;
  hello.mutable_hello()->set_version(kJobsVersion);
  hello.mutable_hello()->set_device(EncodeDevice(DeviceOfTest()));
  hello.mutable_hello()->set_memory_bytes(int64_t{1} << 30);
  ASSERT_TRUE(stream->Write(hello));
  const auto id = Submit("ann", MockJob(R"({"name": "s"})"));
  ASSERT_TRUE(id.ok()) << id.status();
  std::string job;
  for (proto::ToRunner message; job.empty() && stream->Read(&message);) job = message.start().job();
  ASSERT_TRUE(Send(*stub, job, "sent").ok());
  ASSERT_TRUE(Send(*stub, job, "a part", /*is_whole=*/false).ok());
  EXPECT_EQ(NumFiles(), Numbers(1, 1));
  // The stage is lost, and with it the files that were sent for its report.
  proto::FromRunner lost;
  lost.mutable_lost()->set_job(job);
  ASSERT_TRUE(stream->Write(lost));
  testing::AwaitThat([&] { return NumFiles() == Numbers(0, 0); });
  // The same happens when the job is over.
  for (proto::ToRunner message; !message.has_start() && stream->Read(&message);) {
  }
  ASSERT_TRUE(Send(*stub, job, "sent again").ok());
  ASSERT_TRUE(desk_->Cancel({.id = *id, .owner = "ann"}, "test").ok());
  testing::AwaitThat([&] { return NumFiles() == Numbers(0, 0); });
  context.TryCancel();
  stream->Finish();
}

TEST_F(ServiceTest, AJobThatSendsMoreThanTheQuotaFailsAlone) {
  quota_bytes_ = 12;
  const auto runner = Runner("ann");
  const auto other = Submit("ann", MockJob(R"({"name": "s", "seconds": 3})"));
  ASSERT_TRUE(other.ok()) << other.status();
  Await("ann", *other, [](const auto& shown) { return shown.job().stage() == "s"; });
  const auto id = Submit("ann", CountJob(5));
  ASSERT_TRUE(id.ok()) << id.status();
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().state(), "failed");
  EXPECT_EQ(
      detail.job().error(),
      "tenant ann may store 12 bytes, and would have 15 with what its jobs send; delete uploads, or ask "
      "the administrator for more");
  EXPECT_EQ(ReadFile("ann", *id, "out/count"), "line\n");
  // Its machine continues with its other jobs.
  const proto::JobDetail undisturbed = AwaitEnd("ann", *other);
  EXPECT_EQ(undisturbed.job().state(), "done") << undisturbed.job().error();
  for (const proto::StageOfJob& stage : undisturbed.stages()) EXPECT_EQ(stage.outcome(), "done");
}

TEST_F(ServiceTest, AServerThatStartsAgainGoesOn) {
  const auto runner = Runner("ann");
  const auto id = Submit("ann", CountJob(30));
  ASSERT_TRUE(id.ok()) << id.status();
  Await("ann", *id, [](const auto& shown) { return DoneStages(shown) >= 3; });
  fleet_.StopServer();
  fleet_.StartServer();
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().result(), R"({"count":30})") << detail.job().error();
  EXPECT_EQ(DoneStages(detail), 30);
}

TEST_F(ServiceTest, ABadNetworkLosesNothing) {
  ProxyOfTest network(fleet_.address());
  const auto runner = Runner("ann", network.address());
  const TroubleOfTest trouble({&network});
  const auto id = Submit("ann", CountJob(40));
  ASSERT_TRUE(id.ok()) << id.status();
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().result(), R"({"count":40})") << detail.job().error();
  EXPECT_EQ(DoneStages(detail), 40);
  EXPECT_GT(trouble.num_faults(), 0);
}

TEST_F(ServiceTest, CancelsWhatRuns) {
  const auto runner = Runner("ann");
  const auto id = Submit("ann", MockJob(R"({"name": "s", "seconds": 3600})"));
  ASSERT_TRUE(id.ok()) << id.status();
  Await("ann", *id, [](const auto& shown) { return shown.job().stage() == "s"; });
  ASSERT_TRUE(desk_->Cancel({.id = *id, .owner = "ann"}, "test").ok());
  EXPECT_EQ(AwaitEnd("ann", *id).job().state(), "cancelled");
}

TEST_F(ServiceTest, AnOwnerSeesHisOwnJobsAlone) {
  const auto runner = Runner("ann");
  const auto id = Submit("ann", CountJob(1));
  ASSERT_TRUE(id.ok()) << id.status();
  AwaitEnd("ann", *id);
  EXPECT_TRUE(absl::IsNotFound(Show("bob", *id).status()));
  EXPECT_THAT(ReadFile("bob", *id, "out/count"), HasSubstr("NOT_FOUND"));
  // Neither does a runner that does not have the job.
  const auto stub = proto::Jobs::NewStub(ConnectFleet(fleet_.Enrol("runner", "ann")));
  proto::FileRequest request;
  request.set_job(*id);
  request.set_name("out/count");
  grpc::ClientContext context;
  const auto pieces = stub->ReadFile(&context, request);
  proto::FilePiece piece;
  EXPECT_FALSE(pieces->Read(&piece));
  EXPECT_TRUE(absl::IsPermissionDenied(FromRpc(pieces->Finish())));
}

TEST_F(ServiceTest, ASubmissionThatComesTwiceCountsOnce) {
  const auto first = Submit("ann", CountJob(1), "key"), again = Submit("ann", CountJob(1), "key");
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  // For another owner, the same key is another one, and so is the same id.
  EXPECT_EQ(desk_->List({.owner = "bob"})->size(), 0u);
  EXPECT_EQ(*Submit("bob", CountJob(1), "key"), *first);
  EXPECT_EQ(desk_->List({.owner = "bob"})->size(), 1u);
}

TEST_F(ServiceTest, NothingThatIsSubmittedNamesAPathOrACommand) {
  const auto refusal = [&](const std::string& kind, const std::string& settings, const std::string& on = "") {
    proto::SubmittedJob job;
    job.set_name("job");
    job.set_kind(kind);
    job.set_settings(settings);
    job.set_on(on);
    return std::string(Submit("ann", job).status().message());
  };
  EXPECT_THAT(refusal("program", R"({"command": ["rm"]})"),
              HasSubstr("command: is for jobs on this machine"));
  EXPECT_THAT(refusal("tuning", R"({"model": "/etc/passwd"})"),
              HasSubstr("is not a file that was submitted"));
  EXPECT_THAT(refusal("tuning", R"({"model": "in/../../x"})"), HasSubstr("is not a file that was submitted"));
  EXPECT_THAT(refusal("tuning", R"({"model": 7})"), HasSubstr("model: is not a text"));
  EXPECT_THAT(refusal("tuning", "[]"), HasSubstr("its settings are not an object"));
  EXPECT_THAT(refusal("poem", "{}"), HasSubstr("there is no kind"));
  EXPECT_THAT(refusal("mock", R"({"stages": [{"name": "s", "device": true}]})"), HasSubstr("name its key"));
  EXPECT_THAT(refusal("mock", R"({"stages": [{"name": "s", "device": true}]})", "attic"),
              HasSubstr("no device has the key \"attic\""));
  proto::SubmittedJob job = MockJob(R"({"name": "s"})");
  job.add_inputs()->set_name("../x");
  EXPECT_THAT(Submit("ann", job).status().message(), HasSubstr("is not a name of a file of a job"));
  job.mutable_inputs(0)->set_name("in/x");
  job.mutable_inputs(0)->set_digest(std::string(64, 'a'));
  EXPECT_THAT(Submit("ann", job).status().message(), HasSubstr("was not sent"));
}

TEST_F(ServiceTest, MeasuresOnADeviceOfTheFleet) {
  const auto agent = fleet_.Agent([](const MeasureItem&) { return MockAnswer(); });
  fleet_.AwaitDevices(1);
  const auto runner = Runner("ann");
  proto::SubmittedJob job = MockJob(R"({"name": "build"}, {"name": "time", "device": true})", 3);
  job.set_on("desk");
  const auto id = Submit("ann", job);
  ASSERT_TRUE(id.ok()) << id.status();
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().state(), "done") << detail.job().error();
  EXPECT_EQ(DoneStages(detail), 6);
}

TEST_F(ServiceTest, ARevokedRunnerIsOut) {
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
