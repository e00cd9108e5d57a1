#include "http/client/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

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

TEST(HttpUrl, ThisMachineIsKnown) {
  for (const char* host : {"localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "127.1", "2130706433", "[::1]",
                           "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]"})
    EXPECT_TRUE(HttpUrl::Parse(absl::StrCat("http://", host, ":80"))->IsLoopback()) << host;
  for (const char* host :
       {"a", "localhost.example", "128.0.0.1", "10.127.0.1", "127.example", "[::2]", "[::ffff:10.0.0.1]"})
    EXPECT_FALSE(HttpUrl::Parse(absl::StrCat("http://", host, ":80"))->IsLoopback()) << host;
}

TEST(HttpUrl, PartsAreEscaped) {
  EXPECT_EQ(EncodePercent("a-B_9.~"), "a-B_9.~");
  EXPECT_EQ(EncodePercent("a/b c?\xc3\xa4"), "a%2Fb%20c%3F%C3%A4");
}

}  // namespace
}  // namespace attune
