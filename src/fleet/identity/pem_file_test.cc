#include "fleet/identity/pem_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kOne = "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n";
const std::string kTwo = "-----BEGIN CERTIFICATE-----\nBB\n-----END CERTIFICATE-----\n";
const std::string kKey = "-----BEGIN PRIVATE KEY-----\nCC\n-----END PRIVATE KEY-----\n";

TEST(PemFileTest, IsSplitIntoItsParts) {
  const auto parts = SplitPem("title\n" + kOne + kKey + "a remark\n" + kTwo);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->preamble, "title\n");
  EXPECT_THAT(parts->certificates, ElementsAre(kOne, kTwo));
  EXPECT_THAT(parts->keys, ElementsAre(kKey));
  EXPECT_EQ(SplitPem("no part")->preamble, "no part");
  EXPECT_THAT(SplitPem("")->certificates, IsEmpty());
}

TEST(PemFileTest, DamageIsAnError) {
  for (size_t size = 12; size < kOne.size(); ++size)
    EXPECT_FALSE(SplitPem(kOne.substr(0, size)).ok()) << size;
  EXPECT_FALSE(SplitPem("-----BEGIN RSA PRIVATE KEY-----\nDD\n-----END RSA PRIVATE KEY-----\n").ok());
}

}  // namespace
}  // namespace attune
