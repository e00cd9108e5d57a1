#include "service/queue/known_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/temporary_folder.h"
#include "kinds/kinds.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// Jobs at rest: there is no driver.
class KnownJobsTest : public ::testing::Test {
 protected:
  KnownJobsTest() : schedule_(store_->ResumeOrBeginEndless("server")->id) {}

  static JobRecord Net(const std::string& owner, JobState state, const std::string& result = "") {
    JobRecord job;
    job.spec = {.id = "net", .kind = "mock", .owner = owner, .base = "base"};
    job.spec.settings = {{"stages", {{{"name", "work"}, {"seconds", 1}}}}};
    job.state = state;
    job.result = result;
    job.files = {{"out/x", std::string(64, 'a'), 7}};
    return job;
  }
  std::map<size_t, JobRecord> Add(const std::vector<JobRecord>& jobs) {
    const auto added =
        store_->AddJobs(schedule_, {{.key = std::to_string(++num_submissions_), .jobs = jobs}});
    EXPECT_TRUE(added.ok()) << added.status();
    return added->front();
  }

  const testing::TemporaryFolder folder_;
  const std::unique_ptr<SqlJobStore> store_ = *SqlJobStore::Open(folder_ / "jobs.db", AllJobKinds());
  const std::string schedule_;
  const KnownJobs known_{*store_, schedule_, nullptr, nullptr};
  int num_submissions_ = 0;
};

TEST_F(KnownJobsTest, ListsTheLatestFirst) {
  Add({Net("ann", JobState::kUnfinished), Net("ann", JobState::kDone, "{}")});
  Add({Net("bob", JobState::kUnfinished)});
  const auto list = known_.List({.owner = "ann"}, /*with_judged=*/false);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 2);
  EXPECT_EQ(list->at(0).id(), "net-2");
  EXPECT_EQ(list->at(0).state(), "done");
  EXPECT_EQ(list->at(0).result(), "");  // results may be large
  EXPECT_EQ(list->at(1).id(), "net-1");
  EXPECT_EQ(list->at(1).state(), "waiting");
}

TEST_F(KnownJobsTest, ResultsOfJobsWithAnAgreementAreThereIfWanted) {
  JobRecord agreed = Net("ann", JobState::kDone, "{\"a\":1}");
  agreed.spec.agreement = "{}";
  Add({agreed, Net("ann", JobState::kDone, "{\"b\":1}")});
  const auto list = known_.List({.owner = "ann"}, /*with_judged=*/true);
  ASSERT_EQ(list->size(), 2);
  EXPECT_EQ(list->at(0).result(), "");
  EXPECT_EQ(list->at(1).result(), "{\"a\":1}");
}

TEST_F(KnownJobsTest, AnOwnersIdIsAnothersMiss) {
  Add({Net("ann", JobState::kDone, "{}")});
  const auto found = known_.Find({.id = "net-1", .owner = "ann"});
  ASSERT_TRUE(found.ok()) << found.status();
  const auto detail = known_.Detail(found->first, found->second);
  ASSERT_TRUE(detail.ok()) << detail.status();
  EXPECT_EQ(detail->job().result(), "{}");
  ASSERT_EQ(detail->files_size(), 1);
  EXPECT_EQ(detail->files(0).name(), "out/x");
  EXPECT_TRUE(absl::IsNotFound(known_.Find({.id = "net-1", .owner = "bob"}).status()));
  EXPECT_THAT(known_.Find({.owner = "ann"}).status().message(), HasSubstr("there is no job \"\""));
}

TEST_F(KnownJobsTest, TellsWhatHasChangedSinceTheMark) {
  const auto added = Add({Net("ann", JobState::kUnfinished)});
  std::vector<JobMark> marks = {{.query = {.id = "net-1", .owner = "ann"}}};
  EXPECT_EQ(known_.Changes(marks)->size(), 1);
  EXPECT_EQ(marks[0].number, added.begin()->first);
  EXPECT_TRUE(known_.Changes(marks)->empty());
  JobRecord changed = added.begin()->second;
  changed.state = JobState::kCancelled;
  ASSERT_TRUE(store_->SetJob(schedule_, added.begin()->first, changed).ok());
  const auto shown = known_.Changes(marks);
  ASSERT_EQ(shown->size(), 1);
  EXPECT_EQ(shown->front().state(), "cancelled");
  ASSERT_TRUE(store_->RemoveJobs(schedule_, {added.begin()->first}).ok());
  EXPECT_TRUE(known_.Changes(marks)->empty());
  EXPECT_TRUE(marks[0].is_gone);
}

TEST_F(KnownJobsTest, CountsWholeJobsThatAreNotOver) {
  JobRecord whole = Net("ann", JobState::kUnfinished);
  whole.spec.parts = 2;
  JobRecord one = whole, two = whole;
  one.spec.part = 1;
  two.spec.part = 2;
  Add({whole, one, two});
  Add({Net("ann", JobState::kUnfinished), Net("ann", JobState::kDone, "{}"),
       Net("bob", JobState::kUnfinished)});
  EXPECT_EQ(*known_.Unfinished("ann"), 2);
  EXPECT_EQ(*known_.Unfinished("eve"), 0);
}

}  // namespace
}  // namespace attune
