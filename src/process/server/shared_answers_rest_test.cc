// Data of one tenant that reaches another: records by consent, native code never.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "fleet/server/made_up_agent_for_test.h"
#include "measure/blob.h"
#include "process/server/rest_for_test.h"
#include "service/agreement/observations_for_test.h"
#include "service/wire/job_files.h"
#include "tune/records/record_json.h"
#include "tune/records/records_for_test.h"

namespace attune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kDevice[] = "board", kOriginal[] = "in/net.onnx", kShared[] = "in/shared-records.jsonl";

class SharedAnswersTest : public RestTest {
 protected:
  static Json Asking(const Json& settings = Json::object()) {
    Json job = {{"name", "net"},
                {"kind", "tuning"},
                {"on", "desk"},
                {"inputs", {{{"name", kOriginal}, {"sha256", Sha256Hex(ModelBytes())}}}},
                {"settings", {{"model", kOriginal}, {"trials", 50}}},
                {"agreement", {{"latency_ms", {{"mean", 1000}}}}}};
    job["settings"].update(settings);
    return job;
  }
  void Share(const std::string& tenant, bool answers) {
    const Json consent = {{"answers", answers}, {"cost_model", false}};
    EXPECT_EQ(
        Ask(Token(tenant, AccessRole::kOperator), "PUT", "/v1/tenants/" + tenant + "/consent", consent.dump())
            .status,
        200);
  }
  // The tenant has tuned the network, in this many milliseconds.
  void Tune(const std::string& tenant, const std::string& token, double milliseconds) {
    const Json model = Get(token, "/v1/models/" + Sha256Hex(ModelBytes()));
    const std::string path = fleet_.folder() / (tenant + ".db");
    Record record = SampleRecord("run of " + tenant, 1);
    record.device = kDevice;
    record.threads = 1;
    record.config = {{"of_" + tenant, 1}};
    ASSERT_TRUE(MustOpen(path)->Add(record).ok());
    const JobFile records = Keep("files of " + tenant, "out/result.db", *ReadFile(path, 1 << 22));
    jobs_service_proto::Submission submission;
    submission.set_key("tuned by " + tenant);
    auto& job = *submission.add_jobs();
    job.set_name("tuned");
    job.set_kind("tuning");
    job.set_on("desk");
    *job.add_inputs() = ToWire(JobFile{kOriginal, Sha256Hex(ModelBytes()), 1});
    job.set_settings(Json{{"model", kOriginal}, {"records", records.name}}.dump());
    const auto done = jobs_->desk().SubmitKnown(
        tenant, "test", submission, {.files_owner = "files of " + tenant, .file = records, .result = "{}"});
    ASSERT_TRUE(done.ok()) << done.status();
    Observation known = MadeUpObservation(1);
    known.job = done->front().id();
    known.tenant = tenant;
    known.compiler = kCompilerVersion;
    known.network = model["facts"]["network"];
    known.interface = model["facts"]["interface"];
    known.mean_ms = {milliseconds, milliseconds, milliseconds};
    known.artifact = Keep("files of " + tenant, "out/result.atn", "native code of " + tenant);
    ASSERT_TRUE(agreements_.known().Add(known).ok());
    secrets_.insert({records.digest, known.artifact.digest});
  }
  // The names of the files of a tenant's job, none of which may be another tenant's, by its bytes.
  std::vector<std::string> FilesOf(const std::string& tenant, const std::string& job) {
    std::vector<std::string> names;
    const JobRecord record = *jobs_->desk().Find({.id = job, .owner = tenant});
    for (const JobFile& file : record.files) {
      names.push_back(file.name);
      EXPECT_THAT(secrets_, Not(Contains(Sha256Hex(ContentOf(tenant, job, file.name))))) << file.name;
    }
    return names;
  }
  std::string ContentOf(const std::string& tenant, const std::string& job, const std::string& name) {
    const auto file = jobs_->desk().OpenFile({.id = job, .owner = tenant}, name);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? std::string(MappedFile::Map(file->file.descriptor.get())->text()) : "";
  }
  std::string Evidence(const std::string& token) {
    const Json prediction = Json::parse(Post(token, "/v1/predictions", Asking()).body);
    EXPECT_EQ(prediction["verdict"], "accepted");
    return prediction["promises"][0]["evidence"].dump();
  }

  MadeUpAgent agent_{*dispatcher_, nullptr, {.keys = {"desk"}}};
  const std::string ann_ = Token("ann", AccessRole::kMember), bob_ = Token("bob", AccessRole::kMember);
  std::set<std::string> secrets_;  // digests of what never leaves its tenant
};

TEST_F(SharedAnswersTest, RecordsReachOthersByConsentAndCodeNever) {
  for (const auto& token : {ann_, bob_}) {
    Upload(token, ModelBytes());
    EXPECT_EQ(Post(token, "/v1/predictions", Asking()).status, 200);  // imports the model
  }
  const struct {
    std::string from, from_token, to, to_token;
  } ways[] = {{"ann", ann_, "bob", bob_}, {"bob", bob_, "carl", Token("carl", AccessRole::kMember)}};
  Upload(ways[1].to_token, ModelBytes());
  for (const auto& way : ways) {
    Tune(way.from, way.from_token, 2);
    // It is an answer at once for its own tenant alone.
    EXPECT_EQ(Json::parse(Post(way.from_token, "/v1/predictions", Asking()).body)["verdict"], "known");
    // Earlier data is shared once it is turned on, and none once it is turned off.
    for (const bool shares : {false, true, false, true, false}) {
      if (shares || tenant_store_->Find(way.from)->has_value()) Share(way.from, shares);
      EXPECT_EQ(Evidence(way.to_token).find("another tenant shares") != std::string::npos, shares);
      const std::string job = Submit(way.to_token, Asking());
      EXPECT_EQ(Get(way.to_token, "/v1/jobs/" + job)["state"], "waiting");
      const std::vector<std::string> files = FilesOf(way.to, job);
      if (shares) {
        EXPECT_THAT(files, ElementsAre(kOriginal, kShared));
        const std::string lines = ContentOf(way.to, job, kShared);
        EXPECT_THAT(lines, HasSubstr("of_" + way.from));
        EXPECT_THAT(lines, Not(HasSubstr("run of")));
      } else {
        EXPECT_THAT(files, ElementsAre(kOriginal));
      }
    }
  }
}

TEST_F(SharedAnswersTest, WhoWantsNothingOfOthersGetsNothing) {
  for (const auto& token : {ann_, bob_}) {
    Upload(token, ModelBytes());
    EXPECT_EQ(Post(token, "/v1/predictions", Asking()).status, 200);
  }
  Tune("ann", ann_, 2);
  Share("ann", true);
  EXPECT_THAT(FilesOf("bob", Submit(bob_, Asking({{"transfer_runs", false}}))), ElementsAre(kOriginal));
  EXPECT_THAT(FilesOf("bob", Submit(bob_, Asking({{"start_records", kOriginal}}))), ElementsAre(kOriginal));
  EXPECT_THAT(FilesOf("bob", Submit(bob_, Asking())), ElementsAre(kOriginal, kShared));
  // A tenant that is being deleted shares nothing any more.
  ASSERT_TRUE(tenant_store_->BeginDeletion("ann").ok());
  EXPECT_THAT(FilesOf("bob", Submit(bob_, Asking())), ElementsAre(kOriginal));
}

TEST_F(SharedAnswersTest, DamagedRecordsHarmNobody) {
  for (const auto& token : {ann_, bob_}) {
    Upload(token, ModelBytes());
    EXPECT_EQ(Post(token, "/v1/predictions", Asking()).status, 200);
  }
  Tune("ann", ann_, 2);
  Share("ann", true);
  const auto job = jobs_->desk().List({.owner = "ann"})->front();
  const JobRecord record = *jobs_->desk().Find({.id = job.id(), .owner = "ann"});
  ASSERT_TRUE(jobs_->desk().files().Forget(record.spec.base, record.files.front().digest).ok());
  EXPECT_THAT(FilesOf("bob", Submit(bob_, Asking())), ElementsAre(kOriginal));
}

}  // namespace
}  // namespace attune
