#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace attune {
namespace {

TEST(Printable, KeepsTextOfAnyLanguage) {
  const std::string text = "conv_1/weight:0 \xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x90\xB1";
  EXPECT_EQ(WithoutControls(text), text);
  EXPECT_EQ(WithoutControls(""), "");
}

TEST(Printable, ReplacesWhatDrivesATerminal) {
  EXPECT_EQ(WithoutControls("\x1B]0;PWN\x07 \x1B[31m\x7F"), "?]0;PWN? ?[31m?");
  EXPECT_EQ(WithoutControls("name\nattune: fake\r\n"), "name?attune: fake??");
  EXPECT_EQ(WithoutControls("a\nb\tc\r", "\n"), "a\nb?c?");
  EXPECT_EQ(WithoutControls(std::string("\0", 1)), "?");
  EXPECT_EQ(WithoutControls("\xC2\x9B"
                            "31m"),
            "?31m");  // C1: begins an escape sequence in one character
  EXPECT_EQ(WithoutControls("\xE2\x80\xAE"
                            "a\xE2\x80\xA8"
                            "b"),
            "?a?b");  // changes the direction; separates lines
}

TEST(Printable, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(WithoutControls("\x9B"
                            "31m"),
            "?31m");
  EXPECT_EQ(WithoutControls("\xC3"), "?");
  EXPECT_EQ(WithoutControls("\xC3("), "?(");
  EXPECT_EQ(WithoutControls("\xC0\x8A"), "??");            // an overlong newline
  EXPECT_EQ(WithoutControls("\xED\xA0\x80"), "???");       // half of a surrogate pair
  EXPECT_EQ(WithoutControls("\xF4\x90\x80\x80"), "????");  // beyond Unicode
}

TEST(Printable, CutsNames) {
  EXPECT_EQ(Printable("short\n"), "short?");
  EXPECT_EQ(Printable(std::string(81, 'n')), std::string(80, 'n') + "...");
}

}  // namespace
}  // namespace attune
