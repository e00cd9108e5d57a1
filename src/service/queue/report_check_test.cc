#include "service/queue/report_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class ReportCheckTest : public ::testing::Test {
 protected:
  JobFile Keep(const std::string& name, const std::string& content) {
    EXPECT_TRUE(files_->Append("base", Sha256Hex(content), 0, content).ok());
    EXPECT_TRUE(files_->Finish("base", Sha256Hex(content)).ok());
    return {.name = name, .digest = Sha256Hex(content), .bytes = static_cast<int64_t>(content.size())};
  }
  std::string Refusal(const std::vector<JobFile>& made, RunnerStageEnded ended = Done(),
                      const std::string& on = "") const {
    return std::string(check_.Complete(supplies_, on, made, ended).message());
  }
  static RunnerStageEnded Done() {
    RunnerStageEnded ended;
    ended.result = "{}";
    return ended;
  }
  static RunnerStageEnded Wanting(const std::string& key) {
    RunnerStageEnded ended;
    ended.next = {.name = "x", .needs = {{.key = key, .exclusive = true}}, .memory_bytes = 0, .seconds = {}};
    return ended;
  }

  const testing::TemporaryFolder folder_;
  const std::unique_ptr<BlobStore> files_ = *BlobStore::Open(folder_ / "files", {});
  const JobSupplies supplies_ = {.spec = {.id = "job", .kind = "mock"},
                                 .files = {{"in/model", Sha256Hex("m"), 1}, {"state", Sha256Hex("s"), 1}},
                                 .files_owner = "base"};
  const ReportCheck check_{*files_, nullptr};
};

TEST_F(ReportCheckTest, InputsStayAndAllElseIsWhatTheRunnerNames) {
  const JobFile made = Keep("out/x", "new");
  RunnerStageEnded ended = Done();
  ASSERT_TRUE(check_.Complete(supplies_, "", {made}, ended).ok());
  const std::vector<JobFile> expected = {{"in/model", Sha256Hex("m"), 1}, made};
  EXPECT_EQ(ended.files, expected);
}

TEST_F(ReportCheckTest, AStageThatHasFailedHasMadeNothing) {
  RunnerStageEnded failed;
  failed.status = absl::InternalError("out of memory");
  EXPECT_TRUE(check_.Complete(supplies_, "", {{"out/x", Sha256Hex("never sent"), 1}}, failed).ok());
  EXPECT_FALSE(failed.files.has_value());
}

TEST_F(ReportCheckTest, FilesMustBeThere) {
  JobFile made = Keep("out/x", "new");
  EXPECT_EQ(Refusal({made}), "");
  made.bytes = 77;
  EXPECT_THAT(Refusal({made}), HasSubstr("out/x: the runner has not sent it"));
  EXPECT_THAT(Refusal({{"out/x", Sha256Hex("never sent"), 1}}), HasSubstr("has not sent it"));
  EXPECT_NE(Refusal({{"../x", made.digest, 3}}), "");
}

TEST_F(ReportCheckTest, AJobHasNoDeviceButItsOwn) {
  EXPECT_THAT(Refusal({}, Wanting("desk")), HasSubstr("the job measures on no device"));
  EXPECT_EQ(Refusal({}, Wanting(kProcessorsKey)), "");
  EXPECT_EQ(Refusal({}, Wanting("whatever its stage calls it"), "desk"), "");
}

}  // namespace
}  // namespace attune
