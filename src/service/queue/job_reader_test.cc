#include "service/queue/job_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/queue/live_schedule_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class JobReaderTest : public LiveScheduleTest {
 protected:
  // A job of ann's that is done, with these files.
  void AddDone(const std::string& base, const std::vector<JobFile>& files) {
    JobRecord job = MockJobOf("ann", base);
    job.state = JobState::kDone;
    job.files = files;
    Add(base, {job});
  }

  JobReader reader_{queue_, *files_, folder_ / "sharing"};
};

TEST_F(JobReaderTest, ShowsAJob) {
  Add("key", {MockJobOf("ann", "a")});
  EXPECT_EQ(reader_.List({.owner = "ann"})->size(), 1);
  EXPECT_EQ(reader_.Show({.id = "mock-1", .owner = "ann"})->job().state(), "waiting");
  EXPECT_EQ(reader_.Find({.id = "mock-1", .owner = "ann"})->spec.base, "a");
  EXPECT_EQ(*reader_.Unfinished("ann"), 1);
  EXPECT_TRUE(absl::IsNotFound(reader_.Show({.id = "mock-1", .owner = "bob"}).status()));
  std::vector<JobMark> marks = {{.query = {.id = "mock-1", .owner = "ann"}}};
  EXPECT_EQ(reader_.Changes(marks)->size(), 1);
}

TEST_F(JobReaderTest, OpensAFile) {
  AddDone("a", {Keep("a", "out/x", "content")});
  const JobQuery query = {.id = "mock-1", .owner = "ann"};
  const auto opened = reader_.OpenFile(query, "out/x");
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->digest, Sha256Hex("content"));
  std::string content(static_cast<size_t>(opened->file.bytes), '\0');
  ASSERT_EQ(pread(opened->file.descriptor.get(), content.data(), content.size(), 0), opened->file.bytes);
  EXPECT_EQ(content, "content");
  EXPECT_THAT(reader_.OpenFile(query, "out/y").status().message(), HasSubstr("has no file \"out/y\""));
}

TEST_F(JobReaderTest, AContentThatManyJobsHaveCountsOnce) {
  AddDone("a", {{"out/x", Sha256Hex("x"), 5}, {"out/y", Sha256Hex("y"), 7}});
  AddDone("b", {{"out/x", Sha256Hex("x"), 5}});
  EXPECT_EQ(*reader_.StoredBytes("ann"), 12);
  EXPECT_EQ(*reader_.StoredBytes("bob"), 0);
}

TEST_F(JobReaderTest, AllPagesOfJobsAreCounted) {
  constexpr int kJobs = 650;
  std::vector<JobRecord> jobs;
  for (int i = 0; i < kJobs; ++i) {
    JobRecord& job = jobs.emplace_back(MockJobOf("ann", absl::StrCat(i)));
    job.state = JobState::kDone;
    job.files = {{"out/x", Sha256Hex(absl::StrCat(i)), 2}};
  }
  Add("key", jobs);
  EXPECT_EQ(*reader_.StoredBytes("ann"), 2 * kJobs);
}

TEST_F(JobReaderTest, ReadsAtRest) {
  Add("key", {MockJobOf("ann", "a")});
  queue_.Refuse(absl::UnavailableError("the disk is full"),
                std::make_shared<const KnownJobs>(store_, id_, nullptr, nullptr));
  EXPECT_EQ(reader_.Show({.id = "mock-1", .owner = "ann"})->job().state(), "waiting");
  EXPECT_EQ(*reader_.StoredBytes("ann"), 0);
  // Which machines there are, only the schedule knows.
  EXPECT_EQ(reader_.LackOf("ann").status(), absl::UnavailableError("the disk is full"));
}

TEST_F(JobReaderTest, SaysThatNoMachineHasJoined) {
  EXPECT_THAT(reader_.LackOf("ann")->waits_for, HasSubstr("a machine that runs jobs of ann"));
}

TEST_F(JobReaderTest, AJobWithoutRecordsSharesNone) {
  AddDone("a", {});
  EXPECT_TRUE(
      absl::IsNotFound(reader_.RecordsForOthers({.id = "mock-1", .owner = "ann"}, "board", 1).status()));
}

}  // namespace
}  // namespace attune
