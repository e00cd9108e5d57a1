#include "base/process/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "base/memory_file.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::string> RunShell(const std::string& script, const CommandLimits& limits = {}) {
  return RunCommand({"sh", "-c", script}, limits);
}

TEST(CommandTest, ReturnsTheOutputAloneAndPassesArgumentsAsTheyAre) {
  EXPECT_EQ(*RunCommand({"printf", "%s|", "a b", "$HOME", "", "'\"\n"}), "a b|$HOME||'\"\n|");
  EXPECT_EQ(*RunShell("echo out; echo error >&2"), "out\n");
  EXPECT_EQ(*RunShell("cat"), "");  // there is no input
  EXPECT_EQ(RunShell("head -c 500000 /dev/zero")->size(), 500000u);
}

TEST(CommandTest, TellsHowAProgramFailed) {
  EXPECT_EQ(RunShell("echo one >&2; echo two >&2; exit 3").status(),
            absl::UnavailableError("sh: exit status 3; it printed: one | two"));
  EXPECT_THAT(RunShell("kill -9 $$").status().message(), HasSubstr("signal 9"));
  EXPECT_TRUE(absl::IsNotFound(RunCommand({"attune-no-such-program"}).status()));
  EXPECT_TRUE(absl::IsNotFound(RunCommand({"/"}).status()));
}

TEST(CommandTest, ReadsAFileAndJoinsErrorsIfItIsToldTo) {
  const MemoryFile input = *MemoryFile::Of("a secret\n");
  EXPECT_EQ(*RunCommand({"cat"}, {}, {.input = input.path()}), "a secret\n");
  EXPECT_EQ(*RunCommand({"sh", "-c", "echo 1; echo 2 >&2; echo 3"}, {}, {.joins_errors = true}), "1\n2\n3\n");
  EXPECT_THAT(RunCommand({"cat"}, {}, {.input = "/no/such/file"}).status().message(),
              HasSubstr("/no/such/file: cannot be read"));
}

TEST(CommandTest, EndsAProgramThatTakesTooLongOrPrintsTooMuch) {
  // Long enough for a busy machine to have started the program and printed.
  std::string message;
  for (double seconds = 0.25; !message.ends_with("soon"); seconds *= 2) {
    const auto late = RunShell("echo soon >&2; sleep 1000000 & wait", {.seconds = seconds});
    ASSERT_TRUE(absl::IsDeadlineExceeded(late.status())) << late.status();
    message = late.status().message();
    EXPECT_THAT(message, ::testing::StartsWith(absl::StrCat("sh: has not ended within ", seconds, " s")));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(RunShell("cat /dev/zero", {.output_bytes = 1000}).status()));
}

TEST(CommandTest, DoesNotWaitForWhatAProgramLeavesBehind) {
  EXPECT_EQ(*RunShell("sleep 1000 & echo done"), "done\n");
}

}  // namespace
}  // namespace attune
