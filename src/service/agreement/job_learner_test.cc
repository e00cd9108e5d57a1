#include "service/agreement/job_learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "base/metrics_text.h"
#include "base/testing/await_that.h"
#include "service/agreement/promises_of_job.h"
#include "service/queue/live_schedule_for_test.h"
#include "tune/job/recording.h"

namespace attune {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

// Once the learner has begun, its thread alone asks the schedule.
class JobLearnerTest : public LiveScheduleTest {
 protected:
  // A tuning job that is done.
  static JobRecord Tuned() {
    JobRecord job;
    job.spec = {.id = "net", .kind = "tuning", .owner = "ann", .settings = Json::object(), .base = "base"};
    job.state = JobState::kDone;
    const Json judged = {{"network", "n"},
                         {"interface", "i"},
                         {"device", "d"},
                         {"threads", 1},
                         {"compiler", "c"},
                         {"kernels", "k"},
                         {"artifact_bytes", 1e6},
                         {"weight_bytes", 1e5},
                         {"runs", 100},
                         {"mean_ms", {2, 1.9, 2.1}},
                         {"p99_ms", {3, 2.9, nullptr}},
                         {"peaks", ToJson(Peaks{})}};
    job.result = Json{{"seconds", 12}, {"tasks", Json::array()}, {"judged", judged}}.dump();
    return job;
  }
  std::string Metrics() const {
    MetricsText text;
    promises_.AddTo(text);
    return text.text();
  }
  void AwaitLearned(const std::string& job) {
    testing::AwaitThat([&] { return known_.Jobs().contains(job); });
  }

  const std::unique_ptr<AgreementStore> agreement_store_ =
      *AgreementStore::Open(SqlLocation(folder_ / "agreements"));
  KnownAnswers known_{*agreement_store_};
  QuantizationModel quantizations_;
  PromiseCounts promises_;
  JobReader reader_{queue_, *files_, folder_ / "sharing"};
  EndedJobs ended_;
  JobLearner learner_{reader_, ended_, known_, quantizations_, promises_};
};

TEST_F(JobLearnerTest, CatchesUpWithJobsOfAnEarlierServer) {
  JobRecord job = Tuned();
  job.spec.agreement = KeptAgreement{.promises = {{.name = kSizeBytes, .limit = 2e6}}}.ToText();
  Add("key", {job});
  ASSERT_TRUE(learner_.Begin().ok());
  AwaitLearned("net-1@ann");
  learner_.Stop();
  // That server has counted its promises.
  EXPECT_EQ(Metrics().find("result=\"met\"} 1"), std::string::npos);
}

TEST_F(JobLearnerTest, LearnsFromAJobThatHasEndedAndCountsItsPromises) {
  JobRecord job = Tuned();
  job.spec.agreement = KeptAgreement{.promises = {{.name = kSizeBytes, .limit = 2e6}}}.ToText();
  Add("key", {job});
  ASSERT_TRUE(learner_.Begin().ok());
  ended_.Tell("net-1@ann");
  testing::AwaitThat([&] { return Metrics().find("result=\"met\"} 1") != std::string::npos; });
  AwaitLearned("net-1@ann");
}

TEST_F(JobLearnerTest, AJobThatTellsNothingHarmsNoOther) {
  JobRecord damaged = Tuned();
  damaged.result = "no JSON";
  Add("key", {damaged, Tuned()});
  ASSERT_TRUE(learner_.Begin().ok());
  ended_.Tell("net-7@ann");  // which is gone
  AwaitLearned("net-2@ann");
  EXPECT_FALSE(known_.Jobs().contains("net-1@ann"));
}

}  // namespace
}  // namespace attune
