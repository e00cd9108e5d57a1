#include "service/runner/kept_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

class KeptFilesTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& content) {
    const fs::path path = fs::path(folder_.path()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }
  std::vector<JobFile> Look() {
    auto files = kept_.Look();
    EXPECT_TRUE(files.ok()) << files.status();
    return *std::move(files);
  }

  testing::TemporaryFolder folder_;
  KeptFiles kept_{folder_.path()};
};

TEST_F(KeptFilesTest, SeesAllButInputsAndSharedMemory) {
  EXPECT_TRUE(Look().empty());
  Write("in/model", "m");
  Write("out/sub/result", "r");
  Write("records.db", "d");
  Write("records.db-wal", "w");
  Write("records.db-shm", "s");
  Write("other.db-wal", "");
  fs::create_symlink("/etc/passwd", folder_ / "link");
  const std::vector<JobFile> expected = {{"out/sub/result", Sha256Hex("r"), 1},
                                         {"records.db", Sha256Hex("d"), 1},
                                         {"records.db-wal", Sha256Hex("w"), 1}};
  EXPECT_EQ(Look(), expected);
}

TEST_F(KeptFilesTest, SeesEachChangeEvenOfTheSameSizeAtOnce) {
  for (const char* content : {"one", "two", "six"}) {
    Write("out/x", content);
    EXPECT_EQ(Look().at(0).digest, Sha256Hex(content));
  }
  fs::remove(folder_ / "out/x");
  EXPECT_TRUE(Look().empty());
}

TEST_F(KeptFilesTest, AFileWithoutAProperNameIsAnError) {
  Write("out/a\nb", "x");
  EXPECT_FALSE(kept_.Look().ok());
}

}  // namespace
}  // namespace attune
