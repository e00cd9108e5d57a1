#include "service/client/sent_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/random.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

class SentFileTest : public ::testing::Test {
 protected:
  SentFile Of(const std::string& content) {
    const std::string path = folder_ / "file";
    EXPECT_TRUE(WriteFileAtomically(path, content).ok());
    const auto file = OpenInputFile(path);
    EXPECT_TRUE(file.ok()) << file.status();
    auto sent = SentFileOf(*file, Sha256Hex(content));
    EXPECT_TRUE(sent.ok()) << sent.status();
    return *std::move(sent);
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(SentFileTest, OnlyWhatHasChangedIsSent) {
  constexpr int64_t kChunk = kFileChunkBytes;
  std::string content(static_cast<size_t>(10 * kChunk + 7), 'a');
  const SentFile before = Of(content);
  content[static_cast<size_t>(3 * kChunk + 5)] = 'b';
  content += "more";
  const SentFile now = Of(content);
  EXPECT_THAT(RunsOf(before, now, std::ssize(content), 1 << 20),
              ElementsAre(FileRun{0, 3 * kChunk, true}, FileRun{3 * kChunk, kChunk, false},
                          FileRun{4 * kChunk, 6 * kChunk, true}, FileRun{10 * kChunk, 11, false}));
}

TEST_F(SentFileTest, RunsMakeUpTheFile) {
  Random random(1);
  constexpr int kFiles = 50;
  std::string before;
  for (int n = 0; n < kFiles; ++n) {
    std::string content = before;
    content.resize(static_cast<size_t>(random.Integer(0, 20 * kFileChunkBytes)),
                   static_cast<char>('a' + n % 26));
    for (int64_t i = random.Integer(0, 4); i > 0 && !content.empty(); --i)
      content[static_cast<size_t>(random.Integer(0, std::ssize(content) - 1))] ^= 1;
    const SentFile old = Of(before), now = Of(content);
    std::string made;
    for (const FileRun& run : RunsOf(old, now, std::ssize(content), 3 * kFileChunkBytes)) {
      ASSERT_EQ(run.offset, std::ssize(made));
      if (!run.is_same) EXPECT_LE(run.bytes, 3 * kFileChunkBytes);
      made += (run.is_same ? before : content)
                  .substr(static_cast<size_t>(run.offset), static_cast<size_t>(run.bytes));
    }
    EXPECT_TRUE(made == content);
    before = content;
  }
}

}  // namespace
}  // namespace attune
