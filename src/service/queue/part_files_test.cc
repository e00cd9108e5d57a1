#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "service/queue/submitted_files.h"
#include "work/job/kind.h"

namespace attune {
namespace {

class PartFilesTest : public ::testing::Test {
 protected:
  JobFile Keep(const std::string& owner, const std::string& name, const std::string& content) {
    EXPECT_TRUE(files_->Append(owner, Sha256Hex(content), 0, content).ok());
    EXPECT_TRUE(files_->Finish(owner, Sha256Hex(content)).ok());
    return {.name = name, .digest = Sha256Hex(content), .bytes = static_cast<int64_t>(content.size())};
  }
  JobRecord Part(int number) {
    JobRecord part;
    part.spec.part = number;
    part.spec.base = "part " + std::to_string(number);
    part.files = {{"in/model", Sha256Hex("model"), 5},
                  Keep(part.spec.base, "state", "state of " + std::to_string(number))};
    return part;
  }

  const testing::TemporaryFolder folder_;
  const std::unique_ptr<BlobStore> files_ = *BlobStore::Open(folder_ / "files", {});
};

TEST_F(PartFilesTest, TheWholeJobReadsWhatItsPartsHaveLeft) {
  JobRecord whole;
  whole.spec.base = "whole";
  whole.files = {{"in/model", Sha256Hex("model"), 5}, {"state", Sha256Hex("of before"), 9}};
  const auto files = GatherPartFiles(whole, {{2, Part(1)}, {3, Part(2)}}, *files_);
  ASSERT_TRUE(files.ok()) << files.status();
  const std::vector<JobFile> expected = {{"in/model", Sha256Hex("model"), 5},
                                         {PartFolder(1) + "state", Sha256Hex("state of 1"), 10},
                                         {PartFolder(2) + "state", Sha256Hex("state of 2"), 10}};
  EXPECT_EQ(*files, expected);
  EXPECT_TRUE(files_->Has("whole", Sha256Hex("state of 1")));
  EXPECT_TRUE(files_->Has("whole", Sha256Hex("state of 2")));
}

TEST_F(PartFilesTest, AFileThatIsGoneIsAnError) {
  JobRecord whole, part = Part(1);
  whole.spec.base = "whole";
  ASSERT_TRUE(files_->Forget("part 1", Sha256Hex("state of 1")).ok());
  EXPECT_TRUE(absl::IsNotFound(GatherPartFiles(whole, {{2, part}}, *files_).status()));
}

}  // namespace
}  // namespace attune
