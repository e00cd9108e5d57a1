// Jobs on a server, from their submission to their result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "fleet/server/proxy_for_test.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/rpc_status.h"
#include "process/server/service_for_test.h"
#include "service/wire/jobs.grpc.pb.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::HasSubstr;

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
  const auto list = schedule_->reader().List({.owner = "ann"});
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
  ASSERT_TRUE(schedule_->control().Cancel({.id = *id, .owner = "ann"}, "test").ok());
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
  EXPECT_EQ(schedule_->reader().List({.owner = "bob"})->size(), 0u);
  EXPECT_EQ(*Submit("bob", CountJob(1), "key"), *first);
  EXPECT_EQ(schedule_->reader().List({.owner = "bob"})->size(), 1u);
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

}  // namespace
}  // namespace attune
