#include "service/queue/submitted_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fleet/serving/made_up_devices_for_test.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::HasSubstr;

class SubmittedJobTest : public ::testing::Test {
 protected:
  static proto::SubmittedJob Mock() {
    proto::SubmittedJob job;
    job.set_name("mock");
    job.set_kind("mock");
    job.set_settings(R"({"stages": [{"name": "s"}]})");
    return job;
  }
  // Why the job is refused.
  static std::string Refusal(const std::function<void(proto::SubmittedJob&)>& change) {
    proto::SubmittedJob job = Mock();
    change(job);
    return std::string(CheckSubmittedJob(job, "ann").status().message());
  }
  absl::StatusOr<std::vector<JobRecord>> Check(const proto::Submission& submission) {
    return CheckSubmission(submission, "ann", "digest of the key", devices_);
  }

  MadeUpDevices devices_;
};

TEST_F(SubmittedJobTest, AJobIsTakenAsItIs) {
  proto::SubmittedJob submitted = Mock();
  submitted.set_priority(1);
  submitted.set_deadline_seconds(60);
  const auto job = CheckSubmittedJob(submitted, "ann");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->spec.id, "mock");
  EXPECT_EQ(job->spec.owner, "ann");
  EXPECT_EQ(job->spec.priority, 1);
  EXPECT_EQ(job->spec.deadline_seconds, 60);
  EXPECT_EQ(job->state, JobState::kUnfinished);
}

TEST_F(SubmittedJobTest, TheErrorNamesTheJob) {
  EXPECT_THAT(Refusal([](auto& job) { job.set_name("a\nb"); }), HasSubstr("its name is not one line"));
  EXPECT_THAT(Refusal([](auto& job) { job.set_name(""); }), HasSubstr("its name is not one line"));
  EXPECT_THAT(Refusal([](auto& job) { job.set_priority(1'000'001); }),
              HasSubstr("job \"mock\": its priority is beyond"));
  EXPECT_THAT(Refusal([](auto& job) { job.set_deadline_seconds(-1); }),
              HasSubstr("job \"mock\": its deadline is not a time"));
  EXPECT_THAT(Refusal([](auto& job) { job.set_settings("{"); }), HasSubstr("job \"mock\""));
}

TEST_F(SubmittedJobTest, ASubmissionHasAKeyAndJobs) {
  proto::Submission submission;
  EXPECT_THAT(Check(submission).status().message(), HasSubstr("without a key"));
  submission.set_key("key");
  EXPECT_THAT(Check(submission).status().message(), HasSubstr("has 1 to 10000 jobs, and this one 0"));
  for (int i = 0; i < 2; ++i) *submission.add_jobs() = Mock();
  const auto jobs = Check(submission);
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->size(), 2);
  // Each is an owner of files of its own.
  EXPECT_EQ(jobs->at(0).spec.base, "digest of the key/0");
  EXPECT_EQ(jobs->at(1).spec.base, "digest of the key/1");
  submission.set_key(std::string(1000, 'x'));
  EXPECT_THAT(Check(submission).status().message(), HasSubstr("too long"));
}

TEST_F(SubmittedJobTest, ItsDeviceMustBeOneThatTheOwnerMayUse) {
  proto::Submission submission;
  submission.set_key("key");
  *submission.add_jobs() = Mock();
  submission.mutable_jobs(0)->set_settings(R"({"stages": [{"name": "s", "device": true}]})");
  submission.mutable_jobs(0)->set_on("attic");
  EXPECT_THAT(Check(submission).status().message(), HasSubstr("mock: no device has the key \"attic\""));
  devices_.Add("attic/cpu", "attic");
  EXPECT_TRUE(Check(submission).ok());
}

}  // namespace
}  // namespace attune
