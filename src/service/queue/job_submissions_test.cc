#include "service/queue/job_submissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/queue/live_schedule_for_test.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::HasSubstr;

class JobSubmissionsTest : public LiveScheduleTest {
 protected:
  static proto::SubmittedJob Mock() {
    proto::SubmittedJob job;
    job.set_name("mock");
    job.set_kind("mock");
    job.set_settings(R"({"stages": [{"name": "s"}]})");
    return job;
  }
  static proto::Submission Submission(const std::string& key, const proto::SubmittedJob& job = Mock()) {
    proto::Submission submission;
    submission.set_key(key);
    *submission.add_jobs() = job;
    return submission;
  }
  static void AddInput(const std::string& name, const std::string& content, proto::SubmittedJob& job) {
    proto::JobFile* input = job.add_inputs();
    input->set_name(name);
    input->set_digest(Sha256Hex(content));
    input->set_bytes(static_cast<int64_t>(content.size()));
  }
  static proto::SubmittedJob Tuning() {
    proto::SubmittedJob job;
    job.set_name("net");
    job.set_kind("tuning");
    job.set_on("desk");
    job.set_settings(R"({"model": "in/model"})");
    AddInput("in/model", "model", job);
    return job;
  }
  // The owner has sent this.
  void Send(const std::string& owner, const std::string& content) {
    EXPECT_TRUE(sent_->Append(owner, Sha256Hex(content), 0, content).ok());
    EXPECT_TRUE(sent_->Finish(owner, Sha256Hex(content)).ok());
  }
  JobSubmissions::Jobs Submit(const std::string& owner, const proto::Submission& submission,
                              const std::string& records = "") {
    return submissions_.Submit(owner, "test", submission, *sent_, records);
  }
  JobRecord Stored(const std::string& id, const std::string& owner) {
    const auto found = schedule_->view().Find({.id = id, .owner = owner});
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? found->second : JobRecord();
  }

  const std::unique_ptr<BlobStore> sent_ = *BlobStore::Open(folder_ / "sent", {});
  GroupCommit commit_{queue_};
  absl::StatusOr<std::optional<std::string>> cost_model_ = std::optional<std::string>();
  JobSubmissions submissions_{commit_, *files_, devices_, [this] { return cost_model_; }};
};

TEST_F(JobSubmissionsTest, TheSameKeyIsTheSameJob) {
  EXPECT_EQ(*submissions_.Find("ann", "key"), std::nullopt);
  EXPECT_EQ(Submit("ann", Submission("key"))->front().id(), "mock-1");
  EXPECT_EQ(Submit("ann", Submission("key"))->front().id(), "mock-1");
  EXPECT_EQ((*submissions_.Find("ann", "key"))->id(), "mock-1");
  // For another owner, it is another key.
  EXPECT_EQ(*submissions_.Find("bob", "key"), std::nullopt);
  EXPECT_EQ(Submit("bob", Submission("key"))->front().owner(), "bob");
  EXPECT_EQ(schedule_->driver().jobs().size(), 2);
}

TEST_F(JobSubmissionsTest, AJobKeepsItsInputs) {
  Send("ann", "model");
  devices_.Add("desk/cpu", "desk");
  ASSERT_TRUE(Submit("ann", Submission("key", Tuning())).ok());
  const JobRecord job = Stored("net-1", "ann");
  ASSERT_EQ(job.files.size(), 1);
  EXPECT_TRUE(files_->Has(job.spec.base, job.files[0].digest));
}

TEST_F(JobSubmissionsTest, PartsHaveInputsOfTheirOwn) {
  proto::SubmittedJob job = Mock();
  job.set_settings(R"({"stages": [{"name": "s"}], "repeat": 4})");
  job.set_parts(3);
  AddInput("in/x", "x", job);
  Send("ann", "x");
  ASSERT_TRUE(Submit("ann", Submission("key", job)).ok());
  const auto all = *schedule_->view().Jobs({.owner = "ann", .with_parts = true});
  ASSERT_EQ(all.size(), 4);
  for (const auto& [number, part] : all) EXPECT_TRUE(files_->Has(part.spec.base, Sha256Hex("x")));
}

TEST_F(JobSubmissionsTest, ARefusedSubmissionLeavesNoFiles) {
  Send("ann", "x");
  proto::SubmittedJob job = Mock();
  AddInput("in/x", "x", job);
  AddInput("in/y", "never sent", job);
  EXPECT_THAT(Submit("ann", Submission("key", job)).status().message(), HasSubstr("was not sent"));
  EXPECT_EQ(files_->bytes(), 0);
  EXPECT_TRUE(schedule_->driver().jobs().empty());
}

TEST_F(JobSubmissionsTest, WhileTheStoreIsAwayFilesStay) {
  Send("ann", "x");
  proto::SubmittedJob job = Mock();
  AddInput("in/x", "x", job);
  store_.Fail(absl::UnavailableError("away"));
  EXPECT_TRUE(absl::IsUnavailable(Submit("ann", Submission("key", job)).status()));
  // The job may be there nevertheless.
  EXPECT_EQ(files_->bytes(), 1);
}

TEST_F(JobSubmissionsTest, NewJobsBeginWithWhatTheServerHasLearned) {
  Send("ann", "model");
  devices_.Add("desk/cpu", "desk");
  cost_model_ = std::optional<std::string>("first");
  ASSERT_TRUE(Submit("ann", Submission("key", Tuning()), "a record").ok());
  const JobRecord job = Stored("net-1", "ann");
  EXPECT_EQ(job.files.size(), 3);
  EXPECT_TRUE(files_->Has(job.spec.base, Sha256Hex("first")));
  EXPECT_TRUE(files_->Has(job.spec.base, Sha256Hex("a record")));
  // A job that is known keeps what was known at its time.
  cost_model_ = std::optional<std::string>("second");
  ASSERT_TRUE(Submit("ann", Submission("key", Tuning()), "a record").ok());
  EXPECT_FALSE(files_->Has(job.spec.base, Sha256Hex("second")));
  cost_model_ = absl::UnavailableError("away");
  EXPECT_EQ(Submit("ann", Submission("other", Tuning())).status(), absl::UnavailableError("away"));
}

TEST_F(JobSubmissionsTest, AKnownResultIsDoneAtOnce) {
  const JobFile file = Keep("of another", "out/net.atn", "artifact");
  const KnownResult known = {.files_owner = "of another", .file = file, .result = R"({"is_known":true})"};
  const auto jobs = submissions_.SubmitKnown("ann", "test", Submission("key"), known);
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  EXPECT_EQ(jobs->front().state(), "done");
  const JobRecord job = Stored("mock-1", "ann");
  EXPECT_EQ(job.result, known.result);
  EXPECT_EQ(job.files, std::vector<JobFile>{file});
  EXPECT_TRUE(files_->Has(job.spec.base, file.digest));
  EXPECT_TRUE(schedule_->driver().jobs().empty());
}

TEST_F(JobSubmissionsTest, AKnownResultWhoseFileIsGoneIsNone) {
  const KnownResult known = {.files_owner = "of another", .file = {"out/net.atn", Sha256Hex("artifact"), 8}};
  EXPECT_TRUE(absl::IsNotFound(submissions_.SubmitKnown("ann", "test", Submission("key"), known).status()));
  EXPECT_EQ(*submissions_.Find("ann", "key"), std::nullopt);
}

}  // namespace
}  // namespace attune
