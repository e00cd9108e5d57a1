#include "sweep/own_program.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

TEST(OwnProgramTest, FindsTheLastError) {
  EXPECT_EQ(LastError(""), "");
  EXPECT_EQ(LastError("attune: first\nattune: second\nattune: note: more\n"), "second");
  EXPECT_EQ(LastError("attune: note: going on\nSegmentation fault\n\n"), "Segmentation fault");
  EXPECT_EQ(LastError("not supported: Einsum node: no kernel\nreplace it\n"),
            "not supported: Einsum node: no kernel");
  EXPECT_EQ(LastError("attune: red \x1b[31m\n"), "red ?[31m");
}

TEST(OwnProgramTest, AnEarlierErrorInTheLogDoesNotCount) {
  const testing::TemporaryFolder folder;
  const std::string log = folder / "log.txt", before = "attune: of before\n";
  ASSERT_TRUE(WriteFileAtomically(log, before + "attune: of now\n").ok());
  EXPECT_EQ(LastErrorOfLog(log, std::ssize(before)), "of now");
  ASSERT_TRUE(WriteFileAtomically(log, before).ok());
  EXPECT_EQ(LastErrorOfLog(log, std::ssize(before)), "");
  EXPECT_EQ(LastErrorOfLog(log, std::ssize(before) + 100), "");
}

}  // namespace
}  // namespace attune
