// Traces of jobs, and what peers may ask for again: parts of files, and jobs by their keys.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "base/sql/sql_database.h"
#include "base/sync.h"
#include "process/server/rest_for_test.h"
#include "service/rest/trace.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

class JobResultsRestTest : public RestTest {
 protected:
  const std::string ann_ = Token("ann", AccessRole::kMember);
};

TEST_F(JobResultsRestTest, TheSameKeyIsTheSameJobWhenItsFilesAreGone) {
  const std::string digest = Upload(ann_, "a file");
  Json body = MockJob();
  body["inputs"] = {{{"name", "in/x"}, {"sha256", digest}}};
  const HttpResponse first = Post(ann_, "/v1/jobs", body, {{"idempotency-key", "once"}});
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_EQ(Ask(ann_, "DELETE", "/v1/uploads/" + digest).status, 204);
  const HttpResponse again = Post(ann_, "/v1/jobs", body, {{"idempotency-key", "once"}});
  EXPECT_EQ(again.status, 201) << again.body;
  EXPECT_EQ(Json::parse(again.body)["id"], Json::parse(first.body)["id"]);
  EXPECT_EQ(Post(ann_, "/v1/jobs", body, {{"idempotency-key", "twice"}}).status, 404);
}

// How many jobs the database had when each file or folder of jobs was synced.
struct SyncedPath {
  std::string path;
  int64_t jobs;
};
std::vector<SyncedPath> synced_of_jobs;
SqlDatabase* rows_of_jobs = nullptr;

int64_t CountJobs() {
  return *rows_of_jobs->Read(
      [](SqlSession& session) { return ReadInteger(session, "SELECT count(*) FROM jobs"); });
}

TEST_F(JobResultsRestTest, AJobsInputsAreOnTheDiskBeforeItsRow) {
  Submit(ann_, MockJob());  // makes the database
  const auto rows = SqlLocation(fleet_.folder() / "server").Open(JobSchema(), SqlOpening::kAsItIs);
  ASSERT_TRUE(rows.ok()) << rows.status();
  rows_of_jobs = rows->get();
  Json body = MockJob();
  body["inputs"] = {{{"name", "in/x"}, {"sha256", Upload(ann_, "a file")}}};
  SetSyncWatch([](std::string_view path) {
    if (absl::StrContains(path, "/jobs/files/")) synced_of_jobs.push_back({std::string(path), CountJobs()});
  });
  const HttpResponse submitted = Post(ann_, "/v1/jobs", body);
  SetSyncWatch(nullptr);
  ASSERT_EQ(submitted.status, 201) << submitted.body;
  EXPECT_EQ(CountJobs(), 2);
  // Its bytes, its owner's folder, its name and its name there.
  ASSERT_EQ(synced_of_jobs.size(), 4);
  for (const SyncedPath& synced : synced_of_jobs) EXPECT_EQ(synced.jobs, 1) << synced.path;
}

TEST_F(JobResultsRestTest, PartOfAFileIsSent) {
  const std::string digest = Upload(ann_, "0123456789");
  Json body = MockJob();
  body["inputs"] = {{{"name", "in/x"}, {"sha256", digest}}};
  const std::string path = "/v1/jobs/" + Submit(ann_, body) + "/files/in%2Fx";
  const auto ask = [&](const std::string& range) { return Ask(ann_, "GET", path, "", {{"range", range}}); };
  const HttpResponse part = ask("bytes=2-4");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.headers.at("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(part.file->offset, 2);
  EXPECT_EQ(part.file->bytes, 3);
  EXPECT_EQ(ask("bytes=7-").headers.at("Content-Range"), "bytes 7-9/10");
  EXPECT_EQ(ask("bytes=7-1000").headers.at("Content-Range"), "bytes 7-9/10");
  EXPECT_EQ(ask("bytes=-3").headers.at("Content-Range"), "bytes 7-9/10");
  EXPECT_EQ(ask("bytes=10-").status, 416);
  for (const char* whole :
       {"bytes=4-2", "bytes=0-1,4-5", "lines=1-2", "bytes=x-", "bytes=-", "bytes=+1-2", "bytes"})
    EXPECT_EQ(ask(whole).status, 200) << whole;
}

TEST_F(JobResultsRestTest, AFileHasItsDigest) {
  const std::string digest = Upload(ann_, "0123456789");
  Json body = MockJob();
  body["inputs"] = {{{"name", "in/x"}, {"sha256", digest}}};
  const std::string path = "/v1/jobs/" + Submit(ann_, body) + "/files/in%2Fx";
  const HttpResponse whole = Ask(ann_, "GET", path);
  const std::string tag = whole.headers.at("ETag");
  EXPECT_EQ(tag, "\"" + digest + "\"");
  EXPECT_EQ(whole.headers.at("Repr-Digest"), "sha-256=:hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII=:");
  EXPECT_EQ(whole.file->sha256, digest);
  const HttpResponse known = Ask(ann_, "GET", path, "", {{"if-none-match", tag}});
  EXPECT_EQ(known.status, 304);
  EXPECT_FALSE(known.file.has_value());
  EXPECT_EQ(Ask(ann_, "GET", path, "", {{"range", "bytes=2-"}, {"if-range", tag}}).status, 206);
  EXPECT_EQ(Ask(ann_, "GET", path, "", {{"range", "bytes=2-"}, {"if-range", "\"x\""}}).status, 200);
}

TEST_F(JobResultsRestTest, ADamagedFileIsNoAnswer) {
  const std::string digest = Upload(ann_, "0123456789");
  Json body = MockJob();
  body["inputs"] = {{{"name", "in/x"}, {"sha256", digest}}};
  const std::string path = "/v1/jobs/" + Submit(ann_, body) + "/files/in%2Fx";
  int damaged = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(fleet_.folder().path())) {
    if (!file.is_regular_file() || file.file_size() != 10) continue;
    std::filesystem::permissions(file.path(), std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add);
    std::ofstream(file.path()) << "0123456788";
    ++damaged;
  }
  ASSERT_GT(damaged, 0);
  for (const std::string range : {"", "bytes=0-1"}) {
    const HttpResponse answer = Ask(ann_, "GET", path, "", {{"range", range}});
    EXPECT_EQ(answer.status, 500);
    EXPECT_THAT(Detail(answer), ::testing::HasSubstr("in/x: the server's copy is damaged"));
  }
}

TEST_F(JobResultsRestTest, AJobHasATrace) {
  const std::string job = Submit(ann_, MockJob());
  const Json trace = Get(ann_, "/v1/jobs/" + job + "/trace");
  const Json& spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"];
  ASSERT_GE(spans.size(), 1u);
  EXPECT_EQ(spans[0]["name"], "job " + job);
  EXPECT_EQ(spans[0]["traceId"].get<std::string>().size(), 32u);
  EXPECT_EQ(spans[0]["spanId"].get<std::string>().size(), 16u);
  EXPECT_EQ(Ask(Token("bob", AccessRole::kAdmin), "GET", "/v1/jobs/" + job + "/trace").status, 404);
}

TEST(Trace, StagesAndWaitsAreSpans) {
  jobs_service_proto::JobDetail detail;
  detail.mutable_job()->set_id("net-1");
  detail.mutable_job()->set_submitted_ms(1000);
  detail.mutable_job()->set_ended_ms(9000);
  auto* stage = detail.add_stages();
  stage->set_name("build");
  stage->set_outcome("failed");
  stage->set_reason("no reason");
  stage->set_waited_seconds(2);
  stage->set_seconds(3);
  stage->set_end_ms(8000);
  const JsonSchema trace = TraceOfJob(detail, 0);
  const JsonSchema& spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"];
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0]["endTimeUnixNano"], "9000000000");
  EXPECT_EQ(spans[1]["name"], "wait for build");
  EXPECT_EQ(spans[1]["startTimeUnixNano"], "3000000000");
  EXPECT_EQ(spans[2]["startTimeUnixNano"], "5000000000");
  EXPECT_EQ(spans[2]["parentSpanId"], spans[0]["spanId"]);
  EXPECT_EQ(spans[2]["status"]["message"], "failed: no reason");
}

}  // namespace
}  // namespace attune
