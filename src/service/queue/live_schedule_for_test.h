// A schedule without a thread, whose jobs no machine runs, for tests of the parts that ask it.
#ifndef ATTUNE_SERVICE_QUEUE_LIVE_SCHEDULE_FOR_TEST_H_
#define ATTUNE_SERVICE_QUEUE_LIVE_SCHEDULE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log.h"
#include "base/testing/temporary_folder.h"
#include "fleet/serving/made_up_devices_for_test.h"
#include "fleet/store/fleet_store.h"
#include "kinds/kinds.h"
#include "service/queue/live_schedule.h"
#include "work/sched/strategy.h"
#include "work/store/sql_job_store.h"

namespace attune {

// A store whose changes fail when the test says so.
class FailingJobStore final : public JobStore {
 public:
  explicit FailingJobStore(JobStore& store) : store_(store) {}

  void Fail(absl::Status failure) { failure_ = std::move(failure); }
  // Submissions that have this key are refused, as by a database.
  void RefuseKey(std::string key) { refused_key_ = std::move(key); }
  // How often jobs were added.
  int num_added() const { return num_added_; }

  std::string folder() const override { return store_.folder(); }
  absl::StatusOr<ScheduleRecord> ResumeOrBegin(const std::string& key, std::span<const JobSpec> jobs,
                                               const std::string& host) override {
    return store_.ResumeOrBegin(key, jobs, host);
  }
  absl::Status EndStage(const std::string& schedule, size_t index, const JobRecord& job,
                        const StageRecord& stage) override {
    return failure_.ok() ? store_.EndStage(schedule, index, job, stage) : failure_;
  }
  absl::Status SetJob(const std::string& schedule, size_t index, const JobRecord& job) override {
    return failure_.ok() ? store_.SetJob(schedule, index, job) : failure_;
  }
  absl::Status Finish(const std::string& schedule) override { return store_.Finish(schedule); }
  absl::StatusOr<ScheduleRecord> ResumeOrBeginEndless(const std::string& key) override {
    return store_.ResumeOrBeginEndless(key);
  }
  absl::StatusOr<std::vector<std::map<size_t, JobRecord>>> AddJobs(
      const std::string& schedule, const std::vector<JobSubmission>& submissions) override {
    ++num_added_;
    if (!failure_.ok()) return failure_;
    for (const JobSubmission& submission : submissions)
      if (submission.key == refused_key_) return absl::InvalidArgumentError("refused");
    return store_.AddJobs(schedule, submissions);
  }
  absl::StatusOr<std::map<size_t, JobRecord>> Jobs(const std::string& schedule,
                                                   const JobQuery& query) override {
    return store_.Jobs(schedule, query);
  }
  absl::StatusOr<std::vector<StageRecord>> Stages(const std::string& schedule, size_t job,
                                                  int64_t most) override {
    return store_.Stages(schedule, job, most);
  }
  absl::Status RemoveJobs(const std::string& schedule, const std::vector<size_t>& jobs) override {
    return failure_.ok() ? store_.RemoveJobs(schedule, jobs) : failure_;
  }
  absl::StatusOr<std::vector<PastStage>> PastStages(int64_t most) override { return store_.PastStages(most); }

 private:
  JobStore& store_;
  absl::Status failure_;
  std::optional<std::string> refused_key_;
  int num_added_ = 0;
};

inline JobRecord MockJobOf(const std::string& owner, const std::string& base,
                           const std::string& name = "mock") {
  JobRecord job;
  job.spec = {.id = name, .kind = "mock", .owner = owner, .base = base};
  job.spec.settings = {{"stages", {{{"name", "work"}, {"seconds", 1}}}}};
  return job;
}

class LiveScheduleTest : public ::testing::Test {
 protected:
  LiveScheduleTest() { Open(); }
  void SetUp() override { SetLogLevel(LogLevel::kOff); }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  // Resumes the schedule from the store.
  void Open() {
    schedule_.reset();
    auto record = store_.ResumeOrBeginEndless("server");
    ASSERT_TRUE(record.ok()) << record.status();
    id_ = record->id;
    schedule_.emplace(
        store_, *std::move(record),
        ScheduleDriverOptions{
            .strategy = FindSchedulingStrategy("predictive"), .kinds = AllJobKinds(), .is_endless = true},
        hub_, devices_, *fleet_);
    ASSERT_TRUE(schedule_->Resume().ok());
  }
  // Adds jobs, and returns them by number.
  std::map<size_t, JobRecord> Add(const std::string& key, const std::vector<JobRecord>& jobs) {
    const auto added = schedule_->AddJobs({{.key = key, .jobs = jobs}});
    EXPECT_TRUE(added.ok()) << added.status();
    return added.ok() ? added->front() : std::map<size_t, JobRecord>();
  }
  // The store has this as a file of the owner of files.
  JobFile Keep(const std::string& files_owner, const std::string& name, const std::string& content) {
    const JobFile file = {
        .name = name, .digest = Sha256Hex(content), .bytes = static_cast<int64_t>(content.size())};
    if (files_->Has(files_owner, file.digest)) return file;
    EXPECT_TRUE(files_->Append(files_owner, file.digest, 0, content).ok());
    EXPECT_TRUE(files_->Finish(files_owner, file.digest).ok());
    return file;
  }

  const testing::TemporaryFolder folder_;
  const std::unique_ptr<SqlJobStore> sql_store_ = *SqlJobStore::Open(folder_ / "jobs.db", AllJobKinds());
  FailingJobStore store_{*sql_store_};
  const std::unique_ptr<FleetStore> fleet_ = *FleetStore::Open(folder_ / "fleet.db");
  const std::unique_ptr<BlobStore> files_ = *BlobStore::Open(folder_ / "files", {});
  MadeUpDevices devices_;
  RunnerHub hub_{*files_, [](const std::string& job) -> absl::StatusOr<JobSupplies> {
                   return absl::NotFoundError(job);
                 }};
  std::string id_;                        // of the schedule
  std::optional<LiveSchedule> schedule_;  // nothing: tasks wait
  // The thread that asks answers at once.
  ScheduleQueue queue_{[this] {
    if (schedule_.has_value()) queue_.Run(*schedule_);
  }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_LIVE_SCHEDULE_FOR_TEST_H_
