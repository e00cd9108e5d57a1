#include "service/queue/job_file_pieces.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using jobs_service_proto::FilePiece;

class JobFilePiecesTest : public ::testing::Test {
 protected:
  JobFilePiecesTest() {
    auto files = BlobStore::Open(folder_ / "files", {});
    EXPECT_TRUE(files.ok()) << files.status();
    files_ = *std::move(files);
  }

  static FilePiece Bytes(int64_t offset, const std::string& bytes) {
    FilePiece piece;
    piece.set_offset(offset);
    piece.set_bytes(bytes);
    return piece;
  }
  static FilePiece Same(int64_t offset, int64_t bytes) {
    FilePiece piece;
    piece.set_offset(offset);
    piece.set_same_bytes(bytes);
    return piece;
  }
  // Takes the content that is put together of these, if it has at most `max_` bytes.
  absl::Status Take(const std::string& content, std::deque<FilePiece> pieces, const std::string& base = "") {
    pieces.front().set_name("file");
    pieces.front().set_digest(Sha256Hex(content));
    pieces.front().set_base(base.empty() ? "" : Sha256Hex(base));
    pieces.back().set_is_last(true);
    FilePiece first = pieces.front();
    return TakeJobFile(
        *files_, "job", first,
        [&](FilePiece& piece) {
          pieces.pop_front();
          if (pieces.empty()) return false;
          piece = pieces.front();
          return true;
        },
        [&](int64_t bytes) {
          return bytes <= max_ ? absl::OkStatus() : absl::ResourceExhaustedError("too much");
        });
  }
  bool Has(const std::string& content) { return files_->Has("job", Sha256Hex(content)); }

  const testing::TemporaryFolder folder_;
  std::unique_ptr<BlobStore> files_;
  int64_t max_ = INT64_MAX;
};

TEST_F(JobFilePiecesTest, PutsTogetherWhatIsNewAndWhatIsAsItWas) {
  ASSERT_TRUE(Take("one two three", {Bytes(0, "one two "), Bytes(8, "three")}).ok());
  EXPECT_TRUE(Has("one two three"));
  const absl::Status status =
      Take("one TWO three!", {Same(0, 4), Bytes(4, "TWO"), Same(7, 6), Bytes(13, "!")}, "one two three");
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Has("one TWO three!"));
  EXPECT_TRUE(Take("one TWO three!", {Bytes(0, "")}).ok());  // it has it
  EXPECT_TRUE(Take("", {Bytes(0, "")}).ok());
}

TEST_F(JobFilePiecesTest, RefusesWhatDoesNotFit) {
  EXPECT_TRUE(absl::IsNotFound(Take("abc", {Same(0, 3)}, "abd")));
  ASSERT_TRUE(Take("abd", {Bytes(0, "abd")}).ok());
  EXPECT_TRUE(absl::IsOutOfRange(Take("abdc", {Same(0, 4)}, "abd")));
  EXPECT_TRUE(absl::IsOutOfRange(Take("abc", {Same(INT64_MAX, INT64_MAX)}, "abd")));
  EXPECT_TRUE(absl::IsDataLoss(Take("abc", {Same(0, 3)}, "abd")));
  EXPECT_FALSE(Has("abc"));
  // An earlier file does not hinder the next one.
  EXPECT_TRUE(Take("abc", {Same(0, 2), Bytes(2, "c")}, "abd").ok());
}

TEST_F(JobFilePiecesTest, AFileThatIsTooLargeLeavesNothing) {
  ASSERT_TRUE(Take("abd", {Bytes(0, "abd")}).ok());
  max_ = 3;
  EXPECT_TRUE(absl::IsResourceExhausted(Take("abcd", {Bytes(0, "ab"), Bytes(2, "cd")})));
  // A small message may stand for many bytes.
  EXPECT_TRUE(absl::IsResourceExhausted(Take("abdabd", {Same(0, 3), Bytes(3, "abd")}, "abd")));
  EXPECT_TRUE(absl::IsResourceExhausted(Take("xabd", {Bytes(0, "x"), Same(0, 3)}, "abd")));
  for (const char* content : {"abcd", "abdabd", "xabd"})
    EXPECT_EQ(*files_->Sent("job", Sha256Hex(content)), 0);
  EXPECT_TRUE(Take("abc", {Bytes(0, "ab"), Bytes(2, "c")}).ok());
  // A file that is there already costs nothing.
  max_ = 0;
  EXPECT_TRUE(Take("abd", {Bytes(0, "abd")}).ok());
}

}  // namespace
}  // namespace attune
