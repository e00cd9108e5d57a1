#include "fleet/identity/invitation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Invitation Sample() { return *Invitation::New("board.local:9443", std::string(64, 'a')); }

TEST(InvitationTest, IsReadAgain) {
  const Invitation sample = Sample();
  const auto read = Invitation::Parse("  " + sample.Text() + "\n");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->address, "board.local:9443");
  EXPECT_EQ(read->fingerprint, sample.fingerprint);
  EXPECT_EQ(read->secret, sample.secret);
  EXPECT_NE(Sample().secret, sample.secret);
}

TEST(InvitationTest, AnySlipIsNoticed) {
  const std::string text = Sample().Text();
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    const auto read = Invitation::Parse(changed);
    ASSERT_FALSE(read.ok()) << i;
    EXPECT_THAT(std::string(read.status().message()), Not(HasSubstr(changed.substr(40))));
    EXPECT_FALSE(Invitation::Parse(text.substr(0, i)).ok());
  }
  EXPECT_THAT(std::string(Invitation::Parse("\n").status().message()), HasSubstr("the invitation is empty"));
  EXPECT_THAT(std::string(Invitation::Parse("text").status().message()),
              HasSubstr("this is not an invitation"));
  for (const std::string& bad : {std::string(), std::string(1 << 20, 'a'), text + "A", text + " " + text})
    EXPECT_FALSE(Invitation::Parse(bad).ok());
}

}  // namespace
}  // namespace attune
