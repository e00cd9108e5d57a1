#include "work/store/sql_job_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sql/testing/database_for_test.h"
#include "base/sqlite/sqlite.h"
#include "base/testing/temporary_folder.h"
#include "kinds/kinds.h"

namespace attune {
namespace {

// The tables of version 1, with an unfinished job.
constexpr const char* kVersion1[] = {
    "CREATE TABLE schedules (id TEXT NOT NULL PRIMARY KEY, key TEXT NOT NULL, host TEXT NOT NULL, "
    "is_finished "
    "INTEGER NOT NULL, begin_ms INTEGER NOT NULL) STRICT",
    "CREATE INDEX schedules_by_key ON schedules (key, is_finished)",
    "CREATE TABLE jobs (schedule TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT "
    "NULL, "
    "subject TEXT NOT NULL, owner TEXT NOT NULL, priority INTEGER NOT NULL, deadline_seconds REAL NOT NULL, "
    "settings TEXT NOT NULL, base TEXT NOT NULL, state INTEGER NOT NULL, position INTEGER NOT NULL, "
    "progress TEXT NOT NULL, result TEXT NOT NULL, error TEXT NOT NULL, PRIMARY KEY (schedule, number)) "
    "STRICT",
    "CREATE TABLE stages (id INTEGER PRIMARY KEY, schedule TEXT NOT NULL, job INTEGER NOT NULL, name TEXT "
    "NOT "
    "NULL, outcome INTEGER NOT NULL, asked REAL NOT NULL, start REAL NOT NULL, end REAL NOT NULL, "
    "own_low REAL NOT NULL, own_median REAL NOT NULL, own_high REAL NOT NULL, detail TEXT NOT NULL) STRICT",
    "CREATE INDEX stages_by_schedule ON stages (schedule, id)",
    "INSERT INTO schedules VALUES ('s', 'key', 'host', 0, 1)",
    "INSERT INTO jobs VALUES ('s', 0, 'a', 'mock', 'a', '', 0, 0, '{\"stages\": [{\"name\": \"x\"}]}', '/', "
    "0, 7, "
    "'seven', '', '')",
    "INSERT INTO stages (schedule, job, name, outcome, asked, start, end, own_low, own_median, own_high, "
    "detail) "
    "VALUES ('s', 0, 'x', 0, 1, 2, 3, 0, 0, 0, '{\"needs\": [], \"memory_bytes\": 0, \"seconds\": [0, 0, 0], "
    "\"processors\": [], \"held\": []}')",
    "PRAGMA application_id = 1098140271",
    "PRAGMA user_version = 1",
};

TEST(SqlJobStore, GoesOnWithADatabaseOfVersion1) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "jobs.db";
  {
    const auto connection = SqliteConnection::Open(path, {});
    ASSERT_TRUE(connection.ok()) << connection.status();
    for (const char* statement : kVersion1) ASSERT_TRUE((*connection)->Execute(statement).ok()) << statement;
  }
  for (int opened = 0; opened < 2; ++opened) {
    const auto store = SqlJobStore::Open(path, AllJobKinds());
    ASSERT_TRUE(store.ok()) << store.status();
    const auto schedule = (*store)->ResumeOrBegin("key", {}, "host");
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    EXPECT_EQ(schedule->id, "s");
    ASSERT_EQ(schedule->jobs.size(), 1);
    EXPECT_EQ(schedule->jobs[0].position, 7);
    EXPECT_EQ(schedule->jobs[0].progress, "seven");
    EXPECT_EQ(schedule->stages.size(), 1);
    EXPECT_EQ(schedule->elapsed, 3);
    const auto endless = (*store)->ResumeOrBeginEndless("server");
    ASSERT_TRUE(endless.ok()) << endless.status();
    JobRecord job;
    job.spec = schedule->jobs[0].spec;
    EXPECT_TRUE((*store)->AddJobs(endless->id, {{.key = std::to_string(opened), .jobs = {job}}}).ok());
  }
}

class JobStoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { SKIP_WITHOUT_DATABASE(location_); }

  const testing::LocationForTest location_{GetParam()};
};

TEST_P(JobStoreTest, OwnersKnowTheirJobsByNumbersOfTheirOwn) {
  const auto store = SqlJobStore::Open(*location_, AllJobKinds());
  ASSERT_TRUE(store.ok()) << store.status();
  const std::string schedule = (*store)->ResumeOrBeginEndless("server")->id;
  const auto add = [&](const std::string& key, const std::string& owner) {
    JobRecord job;
    job.spec = {.id = "net", .kind = "mock", .owner = owner, .settings = nlohmann::json::object()};
    const auto added = (*store)->AddJobs(schedule, {{.key = key, .jobs = {job}}});
    return added->front().begin()->second.spec.id;
  };
  EXPECT_EQ(add("a", "ann"), "net-1@ann");
  EXPECT_EQ(add("b", "bob"), "net-1@bob");
  EXPECT_EQ(add("c", "bob"), "net-2@bob");
  const auto count = [&](const JobQuery& query) { return (*store)->Jobs(schedule, query)->size(); };
  EXPECT_EQ(count({.id = "net-1", .owner = "ann"}), 1u);
  EXPECT_EQ(count({.id = "net-1@ann", .owner = "ann"}), 1u);
  EXPECT_EQ(count({.id = "net-1@ann"}), 1u);
  EXPECT_EQ(count({.id = "net-1"}), 0u);
  EXPECT_EQ(count({.id = "net-1@bob", .owner = "ann"}), 0u);
  EXPECT_EQ(count({.owner = "bob", .before = "net-2"}), 1u);
  // One from before is known by its only id, and numbers continue after it.
  const auto database = (*location_).Open(JobSchema());
  const auto old = (*database)->Write([](SqlSession& session) {
    return ChangeRows(session, "UPDATE jobs SET id = 'net-17', own_number = 17 WHERE id = 'net-1@ann'");
  });
  ASSERT_EQ(*old, 1);
  EXPECT_EQ(count({.id = "net-17", .owner = "ann"}), 1u);
  EXPECT_EQ(add("d", "ann"), "net-18@ann");
}

TEST_P(JobStoreTest, ADamagedRowBlocksNoOther) {
  const auto store = SqlJobStore::Open(*location_, AllJobKinds());
  ASSERT_TRUE(store.ok()) << store.status();
  const std::string schedule = (*store)->ResumeOrBeginEndless("server")->id;
  constexpr const char* kDamages[] = {"settings = 'none'",
                                      "settings = '7'",
                                      "state = 9",
                                      "files = '[[\"a\", \"b\", -1]]'",
                                      "files = '[[\"a\", \"b\", 18446744073709551615]]'",
                                      "files = '{'"};
  std::vector<JobRecord> jobs(std::size(kDamages) + 1);
  for (JobRecord& job : jobs) job.spec = {.id = "job", .kind = "mock", .settings = nlohmann::json::object()};
  ASSERT_TRUE((*store)->AddJobs(schedule, {{.key = "one", .jobs = jobs}}).ok());
  StageRecord work;
  work.stage.name = "work";
  ASSERT_TRUE((*store)->EndStage(schedule, 7, jobs[0], work).ok());
  const auto database = (*location_).Open(JobSchema());
  ASSERT_TRUE(database.ok()) << database.status();
  const auto change = [&](const std::string& sql) {
    const auto changed =
        (*database)->Write([&](SqlSession& session) { return ChangeRows(session, "UPDATE " + sql); });
    EXPECT_EQ(*changed, 1) << sql;
  };
  for (size_t i = 0; i < std::size(kDamages); ++i)
    change(absl::StrCat("jobs SET ", kDamages[i], " WHERE number = ", i + 1));
  change("stages SET outcome = -1, detail = '{}'");

  const auto found = (*store)->Jobs(schedule, {});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->size(), jobs.size());
  for (const auto& [number, job] : *found) {
    EXPECT_EQ(job.error.empty(), number == jobs.size()) << number << ": " << job.error;
    EXPECT_TRUE(job.spec.settings.is_object());
    EXPECT_TRUE(job.files.empty());
  }
  const auto stages = (*store)->Stages(schedule, 7, 10);
  ASSERT_TRUE(stages.ok()) << stages.status();
  EXPECT_EQ(stages->at(0).outcome, StageOutcome::kLost);
  EXPECT_NE(stages->at(0).reason, "");
  EXPECT_TRUE((*store)->RemoveJobs(schedule, {1, 2, 3, 4, 5, 6, 7}).ok());
  EXPECT_TRUE((*store)->Jobs(schedule, {})->empty());
}

TEST_P(JobStoreTest, WhatIsNotWantedIsNotRead) {
  const auto store = SqlJobStore::Open(*location_, AllJobKinds());
  ASSERT_TRUE(store.ok()) << store.status();
  const std::string schedule = (*store)->ResumeOrBeginEndless("server")->id;
  JobRecord plain;
  plain.spec = {.id = "job", .kind = "mock", .settings = nlohmann::json::object()};
  plain.files = {{"in/x", std::string(64, 'a'), 1}};
  plain.result = "{}";
  JobRecord promised = plain;
  promised.spec.agreement = "{}";
  ASSERT_TRUE((*store)->AddJobs(schedule, {{.key = "one", .jobs = {plain, promised}}}).ok());
  const auto whole = (*store)->Jobs(schedule, {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->at(1).files, plain.files);
  EXPECT_EQ(whole->at(1).result, "{}");
  const auto some = (*store)->Jobs(schedule, {.with_files = false, .results = ResultsWanted::kOfAgreements});
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_TRUE(some->at(1).files.empty());
  EXPECT_EQ(some->at(1).result, "");
  EXPECT_EQ(some->at(2).result, "{}");
  EXPECT_EQ((*store)->Jobs(schedule, {.results = ResultsWanted::kNone})->at(2).result, "");
}

TEST_P(JobStoreTest, FindsJobsPageByPage) {
  const auto store = SqlJobStore::Open(*location_, AllJobKinds());
  ASSERT_TRUE(store.ok()) << store.status();
  const std::string schedule = (*store)->ResumeOrBeginEndless("server")->id;
  std::vector<JobRecord> jobs(5);
  for (JobRecord& job : jobs) job.spec = {.id = "job", .kind = "mock", .settings = nlohmann::json::object()};
  ASSERT_TRUE((*store)->AddJobs(schedule, {{.key = "one", .jobs = jobs}}).ok());
  const auto numbers = [&](const JobQuery& query) {
    std::vector<size_t> found;
    const auto jobs_found = (*store)->Jobs(schedule, query);
    EXPECT_TRUE(jobs_found.ok()) << jobs_found.status();
    if (jobs_found.ok())
      for (const auto& [number, job] : *jobs_found) found.push_back(number);
    return found;
  };
  using Numbers = std::vector<size_t>;
  EXPECT_EQ(numbers({.most = 2}), Numbers({4, 5}));
  EXPECT_EQ(numbers({.before = "job-4", .most = 2}), Numbers({2, 3}));
  EXPECT_EQ(numbers({.before = "job-2", .most = 2}), Numbers({1}));
  EXPECT_EQ(numbers({.before = "none"}), Numbers());
  JobRecord done = jobs[0];
  done.state = JobState::kDone;
  ASSERT_TRUE((*store)->SetJob(schedule, 3, done).ok());
  EXPECT_EQ(numbers({.state = JobState::kDone}), Numbers({3}));
}

TEST_P(JobStoreTest, GoesOnWhereItWasLeft) {
  std::vector<JobSpec> jobs(2);
  for (JobSpec& job : jobs) job = {.id = "job", .kind = "mock", .settings = nlohmann::json::object()};
  std::string id;
  {
    const auto store = SqlJobStore::Open(*location_, AllJobKinds());
    const auto schedule = (*store)->ResumeOrBegin("key", jobs, "host");
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    id = schedule->id;
    JobRecord job = schedule->jobs[1];
    job.position = 3;
    job.progress = "a \"third\" é";
    job.files = {{"out/x", "digest", 7}};
    StageRecord stage;
    stage.job = "job";
    stage.stage.name = "build";
    stage.start = 0.1;
    stage.end = 2.5;
    stage.own = {.low = 1, .median = 2, .high = 3};
    ASSERT_TRUE((*store)->EndStage(id, 1, job, stage).ok());
    job.state = JobState::kFailed;
    job.error = "ended";
    ASSERT_TRUE((*store)->SetJob(id, 1, job).ok());
  }
  const auto store = SqlJobStore::Open(*location_, AllJobKinds());
  const auto schedule = (*store)->ResumeOrBegin("key", jobs, "host");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_EQ(schedule->id, id);
  EXPECT_EQ(schedule->elapsed, 2.5);
  ASSERT_EQ(schedule->jobs.size(), 2);
  const JobRecord& job = schedule->jobs[1];
  EXPECT_EQ(job.position, 3);
  EXPECT_EQ(job.progress, "a \"third\" é");
  EXPECT_EQ(job.error, "ended");
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.files.at(0).bytes, 7);
  EXPECT_GT(job.ended_ms, 0);
  ASSERT_EQ(schedule->stages.size(), 1);
  EXPECT_EQ(schedule->stages[0].start, 0.1);
  const auto past = (*store)->PastStages(5);
  ASSERT_EQ(past->size(), 1);
  EXPECT_EQ(past->at(0).host, "host");
  EXPECT_EQ(past->at(0).seconds, 2.4);
  ASSERT_TRUE((*store)->Finish(id).ok());
  EXPECT_NE((*store)->ResumeOrBegin("key", jobs, "host")->id, id);
}

TEST_P(JobStoreTest, ASubmissionThatComesTwiceIsTheSameJobs) {
  const auto store = SqlJobStore::Open(*location_, AllJobKinds());
  const std::string schedule = (*store)->ResumeOrBeginEndless("server")->id;
  JobRecord job;
  job.spec = {.id = "job", .kind = "mock", .settings = nlohmann::json::object()};
  const auto first = (*store)->AddJobs(schedule, {{.key = "one", .jobs = {job}}});
  // With another one, and twice at a time.
  const JobSubmission one = {.key = "one", .jobs = {job}}, other = {.key = "other", .jobs = {job, job}};
  const auto again = (*store)->AddJobs(schedule, {other, one, other});
  ASSERT_TRUE(first.ok() && again.ok()) << first.status() << again.status();
  const auto ids_of = [](const std::map<size_t, JobRecord>& jobs) {
    std::vector<std::string> ids;
    for (const auto& [number, added] : jobs) ids.push_back(added.spec.id);
    return ids;
  };
  EXPECT_THAT(ids_of(first->at(0)), ::testing::ElementsAre("job-1"));
  EXPECT_THAT(ids_of(again->at(0)), ::testing::ElementsAre("job-2", "job-3"));
  EXPECT_THAT(ids_of(again->at(1)), ::testing::ElementsAre("job-1"));
  EXPECT_THAT(ids_of(again->at(2)), ::testing::ElementsAre("job-2", "job-3"));
  EXPECT_EQ((*store)->Jobs(schedule, {})->size(), 3);
}

INSTANTIATE_TEST_SUITE_P(EveryDatabase, JobStoreTest, testing::EveryDatabase(), testing::DatabaseOf);

}  // namespace
}  // namespace attune
