#include "service/state/service_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "base/sql/testing/database_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The contract of every kind of store.
class ServiceStoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DATABASE(location_);
    auto opened = ServiceStore::Open(*location_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }

  static AccessToken Token(const std::string& id, const std::string& tenant) {
    return {.id = id,
            .name = "script",
            .tenant = tenant,
            .role = AccessRole::kMember,
            .created_by = "boss",
            .created_ms = 1000,
            .expires_ms = 2000};
  }

  const testing::LocationForTest location_{GetParam()};
  std::unique_ptr<ServiceStore> store_;
};

TEST_P(ServiceStoreTest, TokensCountUntilTheyExpireOrAreRevoked) {
  ASSERT_TRUE(store_->AddToken(Token("a", "ann"), "digest a").ok());
  ASSERT_TRUE(store_->AddToken(Token("b", "bob"), "digest b").ok());
  EXPECT_FALSE(store_->AddToken(Token("c", "ann"), "digest a").ok());
  EXPECT_EQ(*store_->FindToken("digest a", 1999), Token("a", "ann"));
  EXPECT_EQ(*store_->FindToken("digest a", 2000), std::nullopt);
  EXPECT_EQ(*store_->FindToken("digest", 1000), std::nullopt);
  EXPECT_THAT(*store_->Tokens("ann", 1500), ElementsAre(Token("a", "ann")));
  EXPECT_TRUE(absl::IsNotFound(store_->RevokeToken("a", "bob")));
  EXPECT_TRUE(store_->RevokeToken("a", "ann").ok());
  EXPECT_EQ(*store_->FindToken("digest a", 1500), std::nullopt);
  EXPECT_THAT(*store_->Tokens("ann", 1500), IsEmpty());
  EXPECT_TRUE(store_->RevokeToken("b", "").ok());
}

TEST_P(ServiceStoreTest, TheFirstTokenIsMadeOnce) {
  EXPECT_TRUE(*store_->AddFirstToken(Token("a", "ann"), "digest a"));
  EXPECT_FALSE(*store_->AddFirstToken(Token("b", "ann"), "digest b"));
  EXPECT_EQ(*store_->FindToken("digest b", 1500), std::nullopt);
}

TEST_P(ServiceStoreTest, TokensAreBoundedByTenant) {
  for (int64_t i = 0; i < kMostTokens; ++i)
    ASSERT_TRUE(store_->AddToken(Token(std::to_string(i), "ann"), std::to_string(i)).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->AddToken(Token("x", "ann"), "x")));
  EXPECT_TRUE(store_->AddToken(Token("y", "bob"), "y").ok());
}

TEST_P(ServiceStoreTest, UploadsStayWithinTheirTenantsBytes) {
  const KnownUpload first = {.tenant = "ann", .digest = "a", .bytes = 60, .created_ms = 1};
  KnownUpload other = {.tenant = "ann", .digest = "b", .bytes = 50, .created_ms = 2};
  EXPECT_EQ(*store_->AddUpload(first, 100), first);
  KnownUpload again = first;
  again.bytes = 7;
  EXPECT_EQ(*store_->AddUpload(again, 100), first);
  const auto refused = store_->AddUpload(other, 100);
  EXPECT_TRUE(absl::StrContains(refused.status().message(), "has 40 bytes")) << refused.status();
  other.tenant = "bob";
  EXPECT_TRUE(store_->AddUpload(other, 100).ok());
  EXPECT_EQ(*store_->FindUpload("ann", "b"), std::nullopt);
  EXPECT_EQ(*store_->FindUpload("bob", "b"), other);
  ASSERT_TRUE(store_->RemoveUpload("ann", "a").ok());
  EXPECT_THAT(*store_->Uploads("ann"), IsEmpty());
  EXPECT_THAT(*store_->Uploads("bob"), ElementsAre(other));
}

TEST_P(ServiceStoreTest, AKeyStandsForItsFirstRequest) {
  EXPECT_EQ(*store_->ClaimKey("ann", "k", "one", 100, 0), "one");
  EXPECT_EQ(*store_->ClaimKey("ann", "k", "two", 101, 0), "one");
  EXPECT_EQ(*store_->ClaimKey("bob", "k", "two", 102, 0), "two");
  ASSERT_TRUE(store_->ForgetKey("ann", "k").ok());
  EXPECT_EQ(*store_->ClaimKey("ann", "k", "two", 103, 0), "two");
  EXPECT_EQ(*store_->ClaimKey("ann", "k", "three", 200, 150), "three");
}

INSTANTIATE_TEST_SUITE_P(EveryDatabase, ServiceStoreTest, testing::EveryDatabase(), testing::DatabaseOf);

}  // namespace
}  // namespace attune
