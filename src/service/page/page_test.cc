#include "service/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array<PageFile, 2> kFiles = {
    PageFile{.path = "/index.html",
             .content_type = "text/html; charset=utf-8",
             .digest = "d1",
             .content = "<!doctype html><title>Attune</title>",
             .gzipped = "small"},
    PageFile{.path = "/assets/a-1.js",
             .content_type = "text/javascript",
             .digest = "d2",
             .content = "x",
             .gzipped = "larger",
             .is_hashed = true},
};

class PageTest : public ::testing::Test {
 protected:
  PageTest() {
    router_.Add({"POST", "/v1/jobs", [](const HttpRequest&) { return HttpResponse{.status = 201}; }});
    ServePage(kFiles, router_);
  }
  HttpResponse Get(const std::string& path,
                   std::map<std::string, std::string, std::less<>> headers = {}) const {
    return router_.Answer({.method = "GET", .path = path, .headers = std::move(headers)});
  }

  HttpRouter router_;
};

TEST_F(PageTest, ViewsAreShownByTheIndex) {
  for (const char* path : {"/", "/index.html", "/jobs/net-1", "/v1beta", "/compare?a=x&b=y"}) {
    const HttpResponse response = Get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.body, kFiles[0].content);
    EXPECT_EQ(response.headers.at("Cache-Control"), "no-cache");
  }
  for (const char* path : {"/v1", "/v1/nothing", "/assets/a-2.js"}) EXPECT_EQ(Get(path).status, 404) << path;
  EXPECT_EQ(Get("/v1/jobs").status, 405);
  EXPECT_EQ(router_.Answer({.method = "POST", .path = "/jobs"}).status, 404);
}

TEST_F(PageTest, ThePolicyAllowsNothingInline) {
  const HttpResponse response = Get("/");
  EXPECT_THAT(response.headers.at("Content-Security-Policy"),
              AllOf(HasSubstr("default-src 'self'"), HasSubstr("frame-ancestors 'none'"),
                    HasSubstr("object-src 'none'"), Not(HasSubstr("unsafe")), Not(HasSubstr("http"))));
  EXPECT_EQ(response.headers.at("X-Content-Type-Options"), "nosniff");
}

TEST_F(PageTest, HashedNamesAreKeptForEver) {
  EXPECT_THAT(Get("/assets/a-1.js").headers.at("Cache-Control"), HasSubstr("immutable"));
}

TEST_F(PageTest, IsCompressedForThoseWhoTakeIt) {
  const HttpResponse gzipped = Get("/", {{"accept-encoding", "br, gzip;q=0.5"}});
  EXPECT_EQ(gzipped.body, "small");
  EXPECT_EQ(gzipped.headers.at("Content-Encoding"), "gzip");
  for (const char* other : {"", "br", "gzip;q=0", "gzip; q=0.0", "x-gzip"}) {
    const HttpResponse plain = Get("/", {{"accept-encoding", other}});
    EXPECT_EQ(plain.body, kFiles[0].content) << other;
    EXPECT_FALSE(plain.headers.contains("Content-Encoding"));
    EXPECT_NE(plain.headers.at("ETag"), gzipped.headers.at("ETag"));
  }
  EXPECT_EQ(Get("/assets/a-1.js", {{"accept-encoding", "gzip"}}).body, "x");
}

TEST_F(PageTest, AnETagSavesTheBody) {
  const std::string tag = Get("/").headers.at("ETag");
  const HttpResponse again = Get("/", {{"if-none-match", "\"other\", " + tag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
}

TEST(Page, WithoutFilesThereIsNone) {
  HttpRouter router;
  ServePage({}, router);
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/"}).status, 404);
}

}  // namespace
}  // namespace attune
