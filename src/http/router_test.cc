#include "http/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/target.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(HttpTarget, IsDecodedPartByPart) {
  const auto target = ParseTarget("/v1/jobs/a%20b%2Ec/?cursor=x%3D1&most=5&name=a+b&flag");
  ASSERT_TRUE(target);
  EXPECT_THAT(target->parts, ElementsAre("v1", "jobs", "a b.c"));
  EXPECT_THAT(target->query,
              ElementsAre(Pair("cursor", "x=1"), Pair("flag", ""), Pair("most", "5"), Pair("name", "a b")));
  EXPECT_THAT(ParseTarget("/a%2Fb/c")->parts, ElementsAre("a/b", "c"));
  EXPECT_THAT(ParseTarget("/")->parts, IsEmpty());
}

TEST(HttpTarget, RefusesWhatIsNoPath) {
  for (const char* target : {"", "v1", "*", "http://x/v1", "//", "/v1//jobs", "/v1/../x", "/v1/%2e%2e/x",
                             "/a%2F", "/a%2F..", "/%0a", "/%", "/%4", "/%zz", "/x?a=%"})
    EXPECT_FALSE(ParseTarget(target)) << target;
}

TEST(HttpRouter, LiteralPartsGoBeforeNamedOnes) {
  HttpRouter router;
  const auto add = [&](const char* method, const char* path) {
    router.Add({method, path, [path](const HttpRequest& request) {
                  const auto id = request.parts.find("id");
                  return HttpResponse{.body = path + (id == request.parts.end() ? "" : " " + id->second)};
                }});
  };
  add("GET", "/jobs/{id}");
  add("GET", "/jobs/latest");
  add("POST", "/jobs");
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/jobs/latest"}).body, "/jobs/latest");
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/jobs/7"}).body, "/jobs/{id} 7");
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/jobs"}).status, 405);
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/jobs/7/8"}).status, 404);
  EXPECT_EQ(router.MostBodyBytes("POST", "/jobs?x"), router.routes().front().most_body_bytes);
  EXPECT_EQ(router.MostBodyBytes("PUT", "/jobs"), std::nullopt);
}

TEST(HttpRouter, AFallbackReadsWhereThereIsNoRoute) {
  HttpRouter router;
  router.Add({"POST", "/jobs", [](const HttpRequest&) { return HttpResponse{.status = 201}; }});
  router.SetFallback([](const HttpRequest& request) { return HttpResponse{.body = request.path}; });
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/"}).body, "/");
  EXPECT_EQ(router.Answer({.method = "HEAD", .path = "/devices/a%20b?x=1"}).body, "/devices/a%20b");
  EXPECT_EQ(router.Answer({.method = "DELETE", .path = "/devices"}).status, 404);
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/jobs"}).status, 405);
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/../x"}).status, 400);
  EXPECT_EQ(router.MostBodyBytes("GET", "/"), std::nullopt);
}

TEST(HttpRouter, ALastPartStandsForTheRest) {
  HttpRouter router;
  router.Add({"GET", "/jobs/{id}/files/{name...}", [](const HttpRequest& request) {
                return HttpResponse{.body = request.parts.at("id") + " " + request.parts.at("name")};
              }});
  const auto body = [&](const char* path) { return router.Answer({.method = "GET", .path = path}).body; };
  EXPECT_EQ(body("/jobs/7/files/out%2Fa%20b/c"), "7 out/a b/c");
  EXPECT_EQ(body("/jobs/7/files/c"), "7 c");
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/jobs/7/files"}).status, 404);
  EXPECT_EQ(router.Answer({.method = "GET", .path = "/jobs/7%2F8/files/c"}).status, 404);
}

}  // namespace
}  // namespace attune
