#include "service/identity/issuer_keys.h"

#include <gtest/gtest.h>

#include "base/testing/await_that.h"
#include "base/testing/manual_clock.h"
#include "service/identity/made_up_issuer_for_test.h"

namespace attune {
namespace {

using testing::AwaitThat;

class IssuerKeysTest : public ::testing::Test {
 protected:
  // A token that is signed by the issuer's present key.
  UnverifiedJwt Token() const { return *ParseJwt(issuer_.Token(MadeUpIssuer::Claims())); }

  static constexpr int kDocuments = 2;  // that an issuer is asked for each time

  const OidcIssuer configured_ = MadeUpIssuer::Configured();
  MadeUpIssuer issuer_;
  ManualClock clock_;
  IssuerKeys keys_{
      configured_, issuer_, clock_, {.refresh_seconds = 300, .least_seconds = 10, .wait_seconds = 0.01}};
};

TEST_F(IssuerKeysTest, AnUnknownKeyIsAskedForOnceThatIsNotTooSoon) {
  const UnverifiedJwt first = Token();
  ASSERT_TRUE(keys_.Begin().ok());
  AwaitThat([&] { return keys_.Verify(first).ok(); });
  issuer_.Rotate("second");
  const UnverifiedJwt second = Token();
  EXPECT_TRUE(absl::IsUnauthenticated(keys_.Verify(second)));
  EXPECT_EQ(issuer_.asked, kDocuments);
  clock_.Advance(10);
  AwaitThat([&] { return keys_.Verify(second).ok(); });
  EXPECT_EQ(issuer_.asked, 2 * kDocuments);
}

TEST_F(IssuerKeysTest, AKeyCountsUntilTheNextRefresh) {
  const UnverifiedJwt first = Token();
  ASSERT_TRUE(keys_.Begin().ok());
  AwaitThat([&] { return keys_.Verify(first).ok(); });
  issuer_.Rotate("second");
  EXPECT_TRUE(keys_.Verify(first).ok());
  clock_.Advance(300);
  AwaitThat([&] { return absl::IsUnauthenticated(keys_.Verify(first)); });
}

TEST_F(IssuerKeysTest, AnIssuerThatIsAwayIsAskedAgain) {
  issuer_.is_away = true;
  ASSERT_TRUE(keys_.Begin().ok());
  AwaitThat([&] { return issuer_.asked > 0; });
  EXPECT_TRUE(absl::IsUnavailable(keys_.Verify(Token())));
  EXPECT_TRUE(absl::IsUnavailable(keys_.Endpoints().status()));
  issuer_.is_away = false;
  clock_.Advance(10);
  AwaitThat([&] { return keys_.Verify(Token()).ok(); });
  EXPECT_TRUE(keys_.Endpoints().ok());
}

}  // namespace
}  // namespace attune
