#include "service/queue/submitted_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class SubmittedFilesTest : public ::testing::Test {
 protected:
  void SetUp() override { SetLogLevel(LogLevel::kOff); }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  // Ann has sent this.
  JobFile Send(const std::string& name, const std::string& content) {
    EXPECT_TRUE(sent_->Append("ann", Sha256Hex(content), 0, content).ok());
    EXPECT_TRUE(sent_->Finish("ann", Sha256Hex(content)).ok());
    return {.name = name, .digest = Sha256Hex(content), .bytes = static_cast<int64_t>(content.size())};
  }
  static JobRecord With(const std::string& base, const std::vector<JobFile>& files) {
    JobRecord job;
    job.spec.id = "net";
    job.spec.base = base;
    job.files = files;
    return job;
  }

  const testing::TemporaryFolder folder_;
  const std::unique_ptr<BlobStore> sent_ = *BlobStore::Open(folder_ / "sent", {});
  const std::unique_ptr<BlobStore> store_ = *BlobStore::Open(folder_ / "files", {});
  SubmittedFiles files_{*store_};
};

TEST_F(SubmittedFilesTest, JobsKeepTheirInputsWhateverBecomesOfTheUpload) {
  const JobFile model = Send("in/model", "model"), data = Send("in/data", "data");
  ASSERT_TRUE(files_.TakeAll("ann", {With("a", {model, data}), With("b", {model})}, *sent_).ok());
  ASSERT_TRUE(sent_->Forget("ann", model.digest).ok());
  EXPECT_TRUE(store_->Has("a", model.digest));
  EXPECT_TRUE(store_->Has("a", data.digest));
  EXPECT_TRUE(store_->Has("b", model.digest));
  EXPECT_FALSE(store_->Has("b", data.digest));
  // The same submission again needs no upload.
  EXPECT_TRUE(files_.TakeAll("ann", {With("a", {model}), With("b", {model})}, *sent_).ok());
}

TEST_F(SubmittedFilesTest, AFileThatWasNotSentIsAnError) {
  const JobFile model = Send("in/model", "model");
  EXPECT_THAT(files_.TakeAll("bob", {With("a", {model})}, *sent_).message(), HasSubstr("net: in/model"));
}

TEST_F(SubmittedFilesTest, AFileOfAnotherSizeIsAnError) {
  JobFile model = Send("in/model", "model");
  model.bytes = 77;
  EXPECT_THAT(files_.TakeAll("ann", {With("a", {model})}, *sent_).message(),
              HasSubstr("net: in/model: has 5 bytes, and not 77"));
}

TEST_F(SubmittedFilesTest, ATextResumesWhereItBrokeOff) {
  const std::string digest = Sha256Hex("a text");
  ASSERT_TRUE(store_->Append("a", digest, 0, "a t").ok());
  ASSERT_TRUE(files_.Add("a", digest, "a text").ok());
  EXPECT_TRUE(store_->Has("a", digest));
  EXPECT_TRUE(files_.Add("a", digest, "a text").ok());
}

TEST_F(SubmittedFilesTest, ASubmissionThatHasFailedLeavesNothing) {
  const JobFile model = Send("in/model", "model");
  const std::vector<JobRecord> jobs = {With("a", {model}), With("b", {model})};
  ASSERT_TRUE(files_.TakeAll("ann", jobs, *sent_).ok());
  files_.ForgetAll(jobs);
  EXPECT_FALSE(store_->Has("a", model.digest));
  EXPECT_FALSE(store_->Has("b", model.digest));
}

}  // namespace
}  // namespace attune
