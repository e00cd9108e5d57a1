#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

std::mutex lines_mutex;
std::vector<std::string> lines;

void KeepLine(LogLevel, std::string_view line) {
  const std::lock_guard<std::mutex> lock(lines_mutex);
  lines.emplace_back(line);
}

class LogTest : public ::testing::Test {
 protected:
  LogTest() { lines.clear(); }
  ~LogTest() override {
    SetLogLevel(LogLevel::kWarning);
    SetLogSink(nullptr);
  }
};

TEST_F(LogTest, LinesHaveKeysAndValuesThatCannotLookLikeOthers) {
  EXPECT_EQ(SetLogSink(KeepLine), nullptr);
  Log(LogLevel::kWarning, "nothing");
  Log(LogLevel::kError, "worker ended", "pid", 12, "seconds", 0.25, "kind", "measure");
  Log(LogLevel::kError, "text", "a", "", "b", "x y", "c", "k=v", "d", "1\n2 \"3\"", "e", "é", "f", "\\");
  EXPECT_THAT(lines, ElementsAre("nothing", "worker ended pid=12 seconds=0.25 kind=measure",
                                 R"(text a="" b="x y" c="k=v" d="1\n2 \"3\"" e=é f="\\")"));
  EXPECT_EQ(SetLogSink(nullptr), KeepLine);
}

TEST_F(LogTest, OnlyWarningsAreLoggedUntilMoreIsWanted) {
  SetLogSink(KeepLine);
  Log(LogLevel::kInfo, "info");
  EXPECT_THAT(lines, IsEmpty());
  SetLogLevel(LogLevel::kDebug);
  Log(LogLevel::kDebug, "debug");
  Log(LogLevel::kTrace, "trace");
  SetLogLevel(LogLevel::kOff);
  Log(LogLevel::kError, "error");
  EXPECT_THAT(lines, ElementsAre("debug"));
}

TEST_F(LogTest, LevelsHaveNames) {
  EXPECT_EQ(*LogLevelNamed("trace"), LogLevel::kTrace);
  EXPECT_EQ(*LogLevelNamed("warning"), LogLevel::kWarning);
  EXPECT_EQ(*LogLevelNamed("off"), LogLevel::kOff);
  EXPECT_THAT(
      std::string(LogLevelNamed("loud").status().message()),
      HasSubstr("'loud' is not a level of the log, which are trace, debug, info, warning, error, off"));
}

TEST_F(LogTest, GoesToStandardErrorWithTheTimeWhereMoreThanWarningsAreWanted) {
  ::testing::internal::CaptureStderr();
  Log(LogLevel::kWarning, "low on {} memory", "bytes", 5);
  SetLogLevel(LogLevel::kInfo);
  Log(LogLevel::kInfo, "started");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              MatchesRegex("attune: warning: low on \\{\\} memory bytes=5\n"
                           "attune: [0-9]+-[0-9]+-[0-9]+T[0-9:.]+[+-][0-9]+:[0-9]+ info: started\n"));
}

TEST_F(LogTest, IsThreadSafe) {
  constexpr int kThreads = 4, kMessages = 50;
  ::testing::internal::CaptureStderr();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([] {
        for (int message = 0; message < kMessages; ++message) Log(LogLevel::kError, "hello", "n", 1);
      });
    }
  }
  std::string expected;
  for (int i = 0; i < kThreads * kMessages; ++i) expected += "attune: error: hello n=1\n";
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), expected);
}

}  // namespace
}  // namespace attune
