#include "base/text/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace attune {
namespace {

using ::testing::ElementsAre;
using Kind = Token::Kind;

std::vector<std::pair<Kind, std::string>> Tokens(std::string_view text) {
  std::vector<std::pair<Kind, std::string>> tokens;
  for (Lexer lexer(text); !lexer.AtEnd(); lexer.Next()) {
    tokens.emplace_back(lexer.token().kind, lexer.token().text);
  }
  return tokens;
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(Lexer, SeparatesWordsStringsAndPunctuation) {
  EXPECT_THAT(Tokens("add_1(%x.y,\"a b\")=>"),
              ElementsAre(std::pair(Kind::kWord, "add_1"), std::pair(Kind::kPunctuation, "("),
                          std::pair(Kind::kPunctuation, "%"), std::pair(Kind::kWord, "x.y"),
                          std::pair(Kind::kPunctuation, ","), std::pair(Kind::kString, "\"a b\""),
                          std::pair(Kind::kPunctuation, ")"), std::pair(Kind::kPunctuation, "="),
                          std::pair(Kind::kPunctuation, ">")));
}

TEST(Lexer, SkipsSpacesAndComments) {
  EXPECT_THAT(Tokens(" \t a // b \"c\n//\n d/e //"),
              ElementsAre(std::pair(Kind::kWord, "a"), std::pair(Kind::kWord, "d"),
                          std::pair(Kind::kPunctuation, "/"), std::pair(Kind::kWord, "e")));
  EXPECT_THAT(Tokens("  // a"), ElementsAre());
}

TEST(Lexer, TakesASignOnlyWhereANumberHasOne) {
  EXPECT_THAT(Tokens("-1.5e-05 -x - 2e+3+4"),
              ElementsAre(std::pair(Kind::kWord, "-1.5e-05"), std::pair(Kind::kWord, "-x"),
                          std::pair(Kind::kPunctuation, "-"), std::pair(Kind::kWord, "2e+3"),
                          std::pair(Kind::kPunctuation, "+"), std::pair(Kind::kWord, "4")));
  // Neither a name nor hexadecimal digits have an exponent.
  EXPECT_THAT(Tokens("size-1 0x1e-1"),
              ElementsAre(std::pair(Kind::kWord, "size"), std::pair(Kind::kWord, "-1"),
                          std::pair(Kind::kWord, "0x1e"), std::pair(Kind::kWord, "-1")));
}

TEST(Lexer, TellsNamesFromOtherWords) {
  for (const char* name : {"x", "_", "_1", "F32", "a.b"}) EXPECT_TRUE(Lexer(name).AtName()) << name;
  for (const char* other : {"", "1x", "-x", ".x", "\"x\"", "%"}) EXPECT_FALSE(Lexer(other).AtName()) << other;
}

TEST(Lexer, SeesWhatFollowsDirectly) {
  EXPECT_TRUE(Lexer("b[0]").IsFollowedBy('['));
  EXPECT_FALSE(Lexer("b [0]").IsFollowedBy('['));
  EXPECT_FALSE(Lexer("b").IsFollowedBy('['));
}

TEST(Lexer, TakesOnlyTheTokenThatItIsAsked) {
  Lexer lexer("graph \"(\" (");
  EXPECT_FALSE(lexer.Take("g"));
  EXPECT_TRUE(lexer.Take("graph"));
  EXPECT_FALSE(lexer.Take("\"(\""));  // a string is no other token, whatever it holds
  EXPECT_EQ(*lexer.TakeString(), "(");
  EXPECT_TRUE(lexer.Expect("(").ok());
  EXPECT_EQ(ErrorOf(lexer.Expect(")")), "line 1:12: expected ')', at the end");
}

TEST(Lexer, ResolvesEscapes) {
  EXPECT_EQ(*Lexer(R"("a\n\t\r\"\\\x00\xff// b")").TakeString(), std::string("a\n\t\r\"\\\0\xFF// b", 12));
  for (const char* text : {R"("\q")", R"("\x0")", R"("\xFF")", R"("\)"}) {
    EXPECT_THAT(ErrorOf(Lexer(text).TakeString().status()), ::testing::HasSubstr("unknown escape")) << text;
  }
  for (const char* text : {"\"", "\"a", "\"a\n\""}) {
    EXPECT_THAT(ErrorOf(Lexer(text).TakeString().status()), ::testing::HasSubstr("does not end on its line"));
  }
  EXPECT_THAT(ErrorOf(Lexer("a").TakeString().status()), ::testing::HasSubstr("expected a string in quotes"));
}

TEST(Lexer, TakesIntegersInTheirRange) {
  EXPECT_EQ(*Lexer("-9223372036854775808").TakeInteger(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*Lexer("7").TakeInteger(7, 7), 7);
  EXPECT_EQ(ErrorOf(Lexer("8").TakeInteger(0, 7).status()),
            "line 1:1: expected an integer in [0, 7], at \"8\"");
  for (const char* text : {"", "1.5", "x", "9223372036854775808", "\"1\""}) {
    EXPECT_THAT(ErrorOf(Lexer(text).TakeInteger().status()),
                ::testing::HasSubstr("expected an integer of 64 bits"))
        << text;
  }
}

TEST(Lexer, ErrorsNameLineAndColumn) {
  Lexer lexer("a\n  b");
  lexer.Next();
  EXPECT_EQ(ErrorOf(lexer.Error("no")), "line 2:3: no, at \"b\"");
  EXPECT_EQ(ErrorOf(lexer.ErrorAt(0, "no")), "line 1:1: no");
  EXPECT_EQ(ErrorOf(lexer.ErrorAt(2, "no")), "line 2:1: no");
}

TEST(Lexer, ErrorsShowTheStartOfATokenInTheQuotesAskedFor) {
  EXPECT_EQ(ErrorOf(Lexer("abcdefghijklmnopqrstuvwxyz").Error("no")),
            "line 1:1: no, at \"abcdefghijklmnopqrst\"");
  EXPECT_EQ(ErrorOf(Lexer("\x01", '\'').Error("no")), "line 1:1: no, at '\\x01'");
  EXPECT_EQ(ErrorOf(Lexer("'", '\'').Error("no")), "line 1:1: no, at '\\''");
}

}  // namespace
}  // namespace attune
