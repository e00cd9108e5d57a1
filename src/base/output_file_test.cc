// Tests what an output file replaces and keeps, and that it leaves nothing behind.
#include "base/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class OutputFileTest : public ::testing::Test {
 protected:
  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static mode_t Mode(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      names.insert(entry.path().filename());
    return names;
  }

  const testing::TemporaryFolder temporary_;
  const std::string& folder_ = temporary_.path();
  const std::string path_ = temporary_ / "out";
};

TEST_F(OutputFileTest, ANewFileHasTheUsualMode) {
  const mode_t mask = umask(027);
  EXPECT_TRUE(WriteFileAtomically(path_, "new").ok());
  EXPECT_EQ(umask(mask), 027u);
  EXPECT_EQ(Content(path_), "new");
  EXPECT_EQ(Mode(path_), 0640u);
  EXPECT_THAT(Names(), ElementsAre("out"));
}

TEST_F(OutputFileTest, AnExistingFileKeepsItsMode) {
  for (const mode_t mode : {0600, 0664, 0444}) {
    ASSERT_TRUE(WriteFileAtomically(path_, "old").ok());
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_TRUE(WriteFileAtomically(path_, "new").ok());
    EXPECT_EQ(Content(path_), "new");
    EXPECT_EQ(Mode(path_), mode);
  }
  EXPECT_THAT(Names(), ElementsAre("out"));
}

TEST_F(OutputFileTest, ALinksTargetIsReplaced) {
  std::filesystem::create_directory(folder_ + "/below");
  ASSERT_EQ(symlink("below/link", path_.c_str()), 0);
  ASSERT_EQ(symlink("target", (folder_ + "/below/link").c_str()), 0);
  for (const char* content : {"to where nothing was", "to what is there"}) {
    EXPECT_TRUE(WriteFileAtomically(path_, content).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(path_));
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/below/link"));
    EXPECT_EQ(Content(folder_ + "/below/target"), content);
  }
}

TEST_F(OutputFileTest, ADeviceStaysOne) {
  ASSERT_EQ(symlink("/dev/null", path_.c_str()), 0);
  for (const std::string& path : {std::string("/dev/null"), path_}) {
    EXPECT_TRUE(WriteFileAtomically(path, "gone").ok());
    EXPECT_TRUE(std::filesystem::is_character_file(path));
  }
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

TEST_F(OutputFileTest, APipesReaderGetsIt) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const FileDescriptor reader(open(path_.c_str(), O_RDONLY | O_NONBLOCK));
  // More than a pipe holds, so that the write waits for the reader.
  const std::string content(1 << 20, 'x');
  absl::Status wrote;
  std::thread writer([&] { wrote = WriteFileAtomically(path_, content); });
  std::string got;
  while (got.size() < content.size()) {
    pollfd entry = {reader.get(), POLLIN, 0};
    char buffer[1 << 16];
    ASSERT_EQ(poll(&entry, 1, -1), 1);
    got.append(buffer, static_cast<size_t>(std::max<ssize_t>(0, read(reader.get(), buffer, sizeof(buffer)))));
  }
  writer.join();
  EXPECT_TRUE(wrote.ok()) << wrote;
  EXPECT_TRUE(got == content);
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(OutputFileTest, APipeThatNobodyReadsIsAnError) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  for (const absl::Status& status : {WriteFileAtomically(path_, "lost"), OpenToAppend(path_).status()})
    EXPECT_THAT(std::string(status.message()),
                StartsWith(path_ + ": cannot write: it is a pipe without a reader"));
}

TEST_F(OutputFileTest, AppendsToWhatIsThere) {
  for (const char* content : {"a", "b"}) {
    const auto file = OpenToAppend(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE(WriteAll(*file, content));
  }
  EXPECT_EQ(Content(path_), "ab");
  EXPECT_TRUE(OpenToAppend("/dev/null").ok());
  EXPECT_FALSE(OpenToAppend(folder_).ok());
  EXPECT_FALSE(OpenToAppend(folder_ + "/missing/out").ok());
}

TEST_F(OutputFileTest, ACheckChangesNothing) {
  EXPECT_TRUE(OutputFile::Check(path_).ok());
  EXPECT_THAT(Names(), IsEmpty());
  ASSERT_TRUE(WriteFileAtomically(path_, "old").ok());
  EXPECT_TRUE(OutputFile::Check(path_).ok());
  EXPECT_EQ(Content(path_), "old");
  EXPECT_THAT(Names(), ElementsAre("out"));
  // Even if its folder is not writable.
  EXPECT_TRUE(OutputFile::Check("/dev/null").ok());
  EXPECT_FALSE(OutputFile::Check(folder_).ok());
  EXPECT_FALSE(OutputFile::Check(folder_ + "/missing/out").ok());
  // A pipe may get its reader later.
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(OutputFile::Check(folder_ + "/pipe").ok());
}

TEST_F(OutputFileTest, StdoutIsWrittenThrough) {
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(file, STDOUT_FILENO);
    const bool wrote = write(STDOUT_FILENO, "a", 1) == 1 && WriteFileAtomically("/dev/stdout", "b").ok() &&
                       write(STDOUT_FILENO, "c", 1) == 1;
    _exit(wrote ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Content(path_), "abc");
}

TEST_F(OutputFileTest, WhatCannotBeWrittenStaysWhole) {
  ASSERT_TRUE(WriteFileAtomically(path_, "old").ok());
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(WriteFileAtomically(path_, std::string(1 << 20, 'x')).ok() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Content(path_), "old");
  EXPECT_THAT(Names(), ElementsAre("out"));
  for (const std::string& path : {folder_, folder_ + "/missing/out"}) {
    const absl::Status failed = WriteFileAtomically(path, "x");
    EXPECT_FALSE(failed.ok());
    EXPECT_THAT(std::string(failed.message()), StartsWith(path + ": cannot write: "));
  }
  EXPECT_FALSE(WriteFileAtomically("", "x").ok());
}

TEST_F(OutputFileTest, WithoutAFinishNothingChanges) {
  ASSERT_TRUE(WriteFileAtomically(path_, "old").ok());
  for (const std::string& path : {path_, folder_ + "/new"}) {
    const auto file = OutputFile::Create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE((*file)->Write(std::string(1 << 20, 'x')).ok());
  }
  EXPECT_EQ(Content(path_), "old");
  EXPECT_THAT(Names(), ElementsAre("out"));
}

TEST_F(OutputFileTest, PiecesComeInOrder) {
  std::string all;
  {
    const auto file = OutputFile::Create(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    for (size_t i = 0; i < 200; ++i) {
      const std::string piece(i * 37, static_cast<char>('a' + i % 26));
      all += piece;
      EXPECT_TRUE((*file)->Write(piece).ok());
    }
    EXPECT_TRUE((*file)->Finish().ok());
  }
  EXPECT_EQ(Content(path_), all);
}

}  // namespace
}  // namespace attune
