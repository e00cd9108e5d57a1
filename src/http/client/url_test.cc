#include "http/client/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace attune {
namespace {

TEST(HttpUrl, IsRead) {
  const auto url = HttpUrl::Parse("HTTPS://Host.example:9193/v1/jobs?state=done");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_TRUE(url->is_encrypted);
  EXPECT_EQ(url->host, "host.example");
  EXPECT_EQ(url->port, 9193);
  EXPECT_EQ(url->target, "/v1/jobs?state=done");
  EXPECT_EQ(url->Origin(), "https://host.example:9193");
  EXPECT_EQ(HttpUrl::Parse("https://a")->Origin(), "https://a");
  EXPECT_EQ(HttpUrl::Parse("http://a:80?q")->Origin(), "http://a");
  EXPECT_EQ(HttpUrl::Parse("http://a:80?q")->target, "/?q");
  EXPECT_EQ(HttpUrl::Parse("http://a:443")->Origin(), "http://a:443");
  const auto v6 = HttpUrl::Parse("http://[::1]:8080/");
  ASSERT_TRUE(v6.ok()) << v6.status();
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->Authority(), "[::1]:8080");
}

TEST(HttpUrl, EverythingElseIsRefused) {
  for (const char* text : {"", "host:80", "ftp://a", "http://", "http:///x", "http://a:0", "http://a:65536",
                           "http://a:b", "http://a b/", "http://u:p@a/", "http://a/#x", "http://[::1/",
                           "http://[::1]x", "http://a\r\n", "http://\xc3\xa4/", "http://::1/"})
    EXPECT_EQ(HttpUrl::Parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
}

TEST(HttpUrl, PartsAreEscaped) {
  EXPECT_EQ(EncodePercent("a-B_9.~"), "a-B_9.~");
  EXPECT_EQ(EncodePercent("a/b c?\xc3\xa4"), "a%2Fb%20c%3F%C3%A4");
}

}  // namespace
}  // namespace attune
