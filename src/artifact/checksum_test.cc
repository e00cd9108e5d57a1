#include "artifact/checksum.h"

#include <gtest/gtest.h>

#include <string_view>

namespace attune {
namespace {

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(ChecksumTest, MatchesThePublishedVectors) {
  EXPECT_EQ(Xxh64({}), 0xEF46DB3751D8E999u);
  EXPECT_EQ(Xxh64(Bytes("abc")), 0x44BC2CF5AD770999u);
  EXPECT_EQ(Xxh64(Bytes("Nobody inspects the spammish repetition")), 0xFBCEA83C8A378BF1u);
}

}  // namespace
}  // namespace attune
