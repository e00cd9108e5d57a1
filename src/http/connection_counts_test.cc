#include "http/connection_counts.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

std::string Source(const char* address) { return SourceOf(boost::asio::ip::make_address(address)); }

TEST(ConnectionCounts, TellsAddressesApart) {
  EXPECT_NE(Source("127.0.0.1"), Source("127.0.0.2"));
  EXPECT_EQ(Source("::ffff:127.0.0.1"), Source("127.0.0.1"));
  EXPECT_EQ(Source("2001:db8:1:2::1"), Source("2001:db8:1:2:ffff::2"));
  EXPECT_NE(Source("2001:db8:1:2::1"), Source("2001:db8:1:3::1"));
}

TEST(ConnectionCounts, AnAddressHasItsShareAndNoMore) {
  ConnectionCounts counts(2);
  counts.Add("a");
  EXPECT_TRUE(counts.HasRoom("a"));
  counts.Add("a");
  EXPECT_FALSE(counts.HasRoom("a"));
  EXPECT_TRUE(counts.HasRoom("b"));
  counts.Remove("a");
  EXPECT_TRUE(counts.HasRoom("a"));
  EXPECT_EQ(counts.Of("a"), 1);
  EXPECT_EQ(counts.Of("b"), 0);
}

TEST(ConnectionCounts, AProxySaysWhomItAsksFor) {
  const std::set<std::string> proxies = {"10.0.0.1", "10.0.0.2"};
  EXPECT_EQ(PeerBehind(proxies, "10.0.0.1", "192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(PeerBehind(proxies, "10.0.0.1", "1.2.3.4, 192.0.2.7 ,10.0.0.2"), "192.0.2.7");
  EXPECT_EQ(PeerBehind(proxies, "10.0.0.1", ""), "10.0.0.1");
  EXPECT_EQ(PeerBehind(proxies, "10.0.0.1", "192.0.2.7, unknown"), "10.0.0.1");
  // Only a proxy may name another address.
  EXPECT_EQ(PeerBehind(proxies, "192.0.2.9", "192.0.2.7"), "192.0.2.9");
}

}  // namespace
}  // namespace attune
