#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "fleet/server/device_registry.h"

namespace attune {
namespace {

constexpr double kSeconds = PromisedKeys::kPromiseSeconds;

TEST(PromisedKeysTest, APromiseCountsUntilItsEndUnlessItIsRepeated) {
  PromisedKeys keys;
  EXPECT_FALSE(keys.Has("a", 10));
  EXPECT_TRUE(keys.Promise("a", 10).ok());
  EXPECT_TRUE(keys.Promise("b", 10).ok());
  EXPECT_TRUE(keys.Promise("a", 20).ok());
  EXPECT_TRUE(keys.Has("b", 10 + kSeconds - 1));
  EXPECT_FALSE(keys.Has("b", 10 + kSeconds));
  EXPECT_TRUE(keys.Has("a", 10 + kSeconds));
  EXPECT_FALSE(keys.Has("", 10));
}

TEST(PromisedKeysTest, TheirNumberAndLengthAreBounded) {
  PromisedKeys keys;
  EXPECT_TRUE(absl::IsInvalidArgument(keys.Promise("", 0)));
  EXPECT_TRUE(absl::IsInvalidArgument(keys.Promise(std::string(257, 'k'), 0)));
  for (int i = 0; i < PromisedKeys::kMostKeys; ++i) EXPECT_TRUE(keys.Promise(absl::StrCat(i), 0).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(keys.Promise("one more", 1)));
  EXPECT_TRUE(keys.Promise("0", 1).ok());
  EXPECT_TRUE(keys.Promise("one more", kSeconds).ok());  // others have ended
}

}  // namespace
}  // namespace attune
