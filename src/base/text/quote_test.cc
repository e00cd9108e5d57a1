#include "base/text/quote.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Quote, EscapesWhatIsNotPrintable) {
  EXPECT_EQ(Quote("a b"), "\"a b\"");
  EXPECT_EQ(Quote("\n\t\r\\"), R"("\n\t\r\\")");
  EXPECT_EQ(Quote(std::string_view("\0\x1F\x7F\xFF", 4)), R"("\x00\x1f\x7f\xff")");
}

TEST(Quote, EscapesTheQuotesThatItAdds) {
  EXPECT_EQ(Quote("'\""), R"("'\"")");
  EXPECT_EQ(Quote("'\"", '\''), R"('\'"')");
}

TEST(HexDigit, HasLowerCaseDigitsAlone) {
  EXPECT_EQ(HexDigit('0'), 0);
  EXPECT_EQ(HexDigit('9'), 9);
  EXPECT_EQ(HexDigit('a'), 10);
  EXPECT_EQ(HexDigit('f'), 15);
  for (char c : {'A', 'F', 'g', '/', ':', '`', '\0'}) EXPECT_EQ(HexDigit(c), -1) << c;
}

}  // namespace
}  // namespace attune
