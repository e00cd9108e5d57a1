#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "service/queue/submitted_files.h"

namespace attune {
namespace {

class StartInputsTest : public ::testing::Test {
 protected:
  static JobRecord Tuning(const nlohmann::json& settings = nlohmann::json::object()) {
    JobRecord job;
    job.spec = {.id = "net", .kind = "tuning", .settings = settings, .base = "base"};
    return job;
  }
  // The job with what the server has learned.
  JobRecord Given(JobRecord job) {
    const absl::Status given = AddStartInputs({.cost_model = "a model", .records = "a record"}, files_, job);
    EXPECT_TRUE(given.ok()) << given;
    return job;
  }

  const testing::TemporaryFolder folder_;
  const std::unique_ptr<BlobStore> store_ = *BlobStore::Open(folder_ / "files", {});
  SubmittedFiles files_{*store_};
};

TEST_F(StartInputsTest, ATuningJobBeginsWithWhatWasLearned) {
  EXPECT_TRUE(WantsCostModel(Tuning()));
  const JobRecord job = Given(Tuning());
  ASSERT_EQ(job.files.size(), 2);
  EXPECT_EQ(job.spec.settings["cost_model"], job.files[0].name);
  EXPECT_EQ(job.spec.settings["start_records"], job.files[1].name);
  EXPECT_EQ(job.files[0], (JobFile{"in/shared-cost-model.txt", Sha256Hex("a model"), 7}));
  EXPECT_EQ(job.files[1], (JobFile{"in/shared-records.jsonl", Sha256Hex("a record"), 8}));
  for (const JobFile& file : job.files) EXPECT_TRUE(store_->Has("base", file.digest));
}

TEST_F(StartInputsTest, AJobWithItsOwnKeepsIt) {
  const JobRecord job = Given(Tuning({{"cost_model", "in/own.txt"}}));
  EXPECT_EQ(job.spec.settings["cost_model"], "in/own.txt");
  ASSERT_EQ(job.files.size(), 1);
  EXPECT_EQ(job.files[0].name, "in/shared-records.jsonl");
}

TEST_F(StartInputsTest, AJobMayDoWithout) {
  EXPECT_FALSE(WantsCostModel(Tuning({{"use_model", false}})));
  EXPECT_TRUE(Given(Tuning({{"use_model", false}, {"transfer_runs", false}})).files.empty());
  JobRecord quantization = Tuning();
  quantization.spec.kind = "quantization";
  EXPECT_TRUE(Given(quantization).files.empty());
}

TEST_F(StartInputsTest, AFileOfTheOwnersIsNotReplaced) {
  JobRecord job = Tuning();
  const JobFile own = {"in/shared-cost-model.txt", Sha256Hex("own"), 3};
  job.files = {own};
  job = Given(job);
  EXPECT_EQ(job.files[0], own);
  EXPECT_FALSE(job.spec.settings.contains("cost_model"));
  EXPECT_EQ(job.files.size(), 2);
}

TEST_F(StartInputsTest, WithoutAnythingLearnedTheJobStaysAsItIs) {
  JobRecord job = Tuning();
  EXPECT_TRUE(AddStartInputs({}, files_, job).ok());
  EXPECT_TRUE(job.files.empty());
  EXPECT_TRUE(job.spec.settings.empty());
}

}  // namespace
}  // namespace attune
