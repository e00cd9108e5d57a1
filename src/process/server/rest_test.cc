#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/testing/await_that.h"
#include "process/server/rest_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(RestTest, TheDocumentHasEveryOperation) {
  EXPECT_EQ(document_["openapi"], "3.1.0");
  EXPECT_EQ(document_["info"]["version"], "1.0.0");
  std::set<std::string> ids;
  size_t count = 0;
  for (const auto& [path, methods] : document_["paths"].items()) {
    EXPECT_THAT(path, StartsWith("/v1/"));
    for (const auto& [method, operation] : methods.items()) {
      ++count;
      EXPECT_TRUE(ids.insert(operation["operationId"]).second) << operation;
      EXPECT_FALSE(operation["responses"].empty()) << path;
      // Every part of the path in braces is a parameter, and the other way round.
      std::set<std::string> named, declared;
      for (const std::string_view part : absl::StrSplit(path, '/'))
        if (part.starts_with('{')) named.insert(std::string(part.substr(1, part.size() - 2)));
      for (const auto& parameter : operation["parameters"])
        if (parameter["in"] == "path") declared.insert(parameter["name"].get<std::string>());
      EXPECT_EQ(named, declared) << path;
    }
  }
  EXPECT_EQ(count, api_.operations.size());
  // Every reference leads somewhere.
  for (const std::string text = document_.dump();
       const std::string_view after : absl::StrSplit(text, "\"$ref\":\"#"))
    if (const std::string pointer(after.substr(0, after.find('"'))); pointer.starts_with("/components"))
      EXPECT_TRUE(document_.contains(Json::json_pointer(pointer))) << pointer;
}

TEST_F(RestTest, EveryOperationAsksForItsRole) {
  const std::map<AccessRole, std::string> tokens = {
      {AccessRole::kViewer, Token("ann", AccessRole::kViewer)},
      {AccessRole::kMember, Token("ann", AccessRole::kMember)},
      {AccessRole::kOperator, Token("ann", AccessRole::kOperator)},
      {AccessRole::kAdmin, Token("ann", AccessRole::kAdmin)}};
  for (const RestOperation& operation : api_.operations) {
    if (!operation.role) continue;
    const std::string path = absl::StrReplaceAll(
        operation.route.path,
        {{"{id}", "none-1"}, {"{name...}", "out%2Fx"}, {"{sha256}", std::string(64, '0')}});
    const std::string body =
        operation.route.method == "POST" || operation.route.method == "PATCH" ? "{}" : "";
    const HttpResponse nobody = Ask("", operation.route.method, path, body);
    EXPECT_EQ(nobody.status, 401) << path;
    EXPECT_THAT(nobody.headers.at("WWW-Authenticate"), StartsWith("Bearer"));
    for (const auto& [role, token] : tokens)
      EXPECT_EQ(Ask(token, operation.route.method, path, body).status == 403, role < *operation.role)
          << operation.id << " " << Name(role);
  }
}

TEST_F(RestTest, TokensAreGivenAndRevoked) {
  const std::string boss = Token("ann", AccessRole::kOperator), admin = Token("server", AccessRole::kAdmin);
  EXPECT_EQ(Get(boss, "/v1/me")["role"], "operator");
  const HttpResponse given = Post(boss, "/v1/tokens", {{"name", "ci"}, {"role", "member"}, {"days", 3}});
  ASSERT_EQ(given.status, 201) << given.body;
  const Json made = Json::parse(given.body);
  const auto text = made["text"].get<std::string>(), id = made["token"]["id"].get<std::string>();
  EXPECT_THAT(text, StartsWith("attune_"));
  EXPECT_EQ(text.size(), 50);
  EXPECT_EQ(Get(text, "/v1/me")["tenant"], "ann");
  EXPECT_EQ(Get(boss, "/v1/tokens")["tokens"].size(), 2);
  EXPECT_THAT(Detail(Post(boss, "/v1/tokens", {{"name", "x"}, {"role", "admin"}})),
              HasSubstr("is more than"));
  EXPECT_EQ(Post(boss, "/v1/tokens", {{"name", "x"}, {"role", "viewer"}, {"tenant", "bob"}}).status, 403);
  EXPECT_EQ(Post(admin, "/v1/tokens", {{"name", "x"}, {"role", "viewer"}, {"tenant", "bob"}}).status, 201);
  EXPECT_EQ(Ask(boss, "GET", "/v1/tokens?tenant=bob").status, 403);
  EXPECT_EQ(Get(admin, "/v1/tokens?tenant=bob")["tokens"].size(), 1);
  const std::string other = Token("bob", AccessRole::kOperator);
  EXPECT_EQ(Ask(other, "DELETE", "/v1/tokens/" + id).status, 404);
  EXPECT_EQ(Ask(boss, "DELETE", "/v1/tokens/" + id).status, 204);
  EXPECT_EQ(Ask(text, "GET", "/v1/me").status, 401);
  EXPECT_EQ(Ask("attune_forged", "GET", "/v1/me").status, 401);
}

TEST_F(RestTest, ABodyIsCheckedFieldByField) {
  const std::string token = Token("ann", AccessRole::kMember);
  EXPECT_EQ(Detail(Post(token, "/v1/jobs", {{"name", "a"}})), "/kind: is missing");
  EXPECT_EQ(Detail(Post(token, "/v1/jobs", {{"name", 7}, {"kind", "mock"}})),
            "/name: should be of type string, and is number");
  EXPECT_EQ(Detail(Post(token, "/v1/jobs", {{"name", "a"}, {"kind", "mock"}, {"modle", "x"}})),
            "/modle: is not a field of this object");
  EXPECT_EQ(Ask(token, "POST", "/v1/jobs", "{").status, 400);
  EXPECT_EQ(Ask(token, "POST", "/v1/jobs", std::string(50'000, '[')).status, 400);
  EXPECT_EQ(Ask(token, "POST", "/v1/jobs", "{}", {{"content-type", "text/plain"}}).status, 415);
  EXPECT_EQ(Detail(Ask(token, "GET", "/v1/jobs?most=many")),
            "most: should be of type integer, and is string");
  EXPECT_EQ(Detail(Ask(token, "GET", "/v1/jobs?msot=1")), "msot: is not a parameter of this operation");
  EXPECT_THAT(Detail(Post(token, "/v1/jobs", {{"name", "a"}, {"kind", "mock"}, {"settings", {{"x", 1}}}})),
              HasSubstr("job \"a\""));
}

TEST_F(RestTest, AnUploadGoesOnWhereItBroke) {
  const std::string token = Token("ann", AccessRole::kMember), other = Token("bob", AccessRole::kMember);
  const std::string content = "0123456789", digest = Sha256Hex(content);
  const HttpResponse begun = Post(token, "/v1/uploads", {{"sha256", digest}, {"bytes", 10}});
  EXPECT_EQ(begun.headers.at("Location"), "/v1/uploads/" + digest);
  EXPECT_EQ(Patch(token, digest, 0, "0123").headers.at("Upload-Offset"), "4");
  EXPECT_EQ(Ask(token, "HEAD", "/v1/uploads/" + digest).headers.at("Upload-Offset"), "4");
  EXPECT_EQ(Patch(token, digest, 0, "0123").status, 409);
  EXPECT_EQ(Patch(token, digest, 4, "456789!").status, 413);
  // The upload can be started again and continues, with the same size.
  EXPECT_EQ(Post(token, "/v1/uploads", {{"sha256", digest}, {"bytes", 10}}).headers.at("Upload-Offset"), "4");
  EXPECT_EQ(Post(token, "/v1/uploads", {{"sha256", digest}, {"bytes", 11}}).status, 409);
  EXPECT_EQ(Ask(other, "GET", "/v1/uploads/" + digest).status, 404);
  EXPECT_EQ(Patch(other, digest, 4, "456789").status, 404);
  EXPECT_EQ(Patch(token, digest, 4, "456789").status, 204);
  EXPECT_EQ(Get(token, "/v1/uploads/" + digest)["is_complete"], true);
  EXPECT_EQ(Ask(token, "DELETE", "/v1/uploads/" + digest).status, 204);
  EXPECT_EQ(Ask(token, "GET", "/v1/uploads/" + digest).status, 404);
}

TEST_F(RestTest, UploadsAreBoundedAndChecked) {
  const std::string token = Token("ann", AccessRole::kMember);
  const std::string digest = Sha256Hex("right");
  EXPECT_EQ(Post(token, "/v1/uploads", {{"sha256", digest}, {"bytes", 5}}).status, 201);
  EXPECT_EQ(Patch(token, digest, 0, "wrong").status, 422);
  EXPECT_EQ(Ask(token, "GET", "/v1/uploads/" + digest).status, 404);
  Upload(token, "");
  EXPECT_EQ(Post(token, "/v1/uploads", {{"sha256", digest}, {"bytes", 1001}}).status, 413);
  Upload(token, std::string(1000, 'x'));
  const HttpResponse refused = Post(token, "/v1/uploads", {{"sha256", digest}, {"bytes", 501}});
  EXPECT_EQ(refused.status, 413);
  EXPECT_THAT(Detail(refused), HasSubstr("has 500 bytes"));
  EXPECT_EQ(Ask(token, "GET", "/v1/uploads/..").status, 400);
  EXPECT_EQ(Ask(token, "GET", "/v1/uploads/" + std::string(64, 'A')).status, 400);
}

TEST_F(RestTest, ATenantSeesItsOwnAlone) {
  const std::string ann = Token("ann", AccessRole::kMember), bob = Token("bob", AccessRole::kAdmin);
  const std::string id = Submit(ann, MockJob());
  EXPECT_EQ(Get(ann, "/v1/jobs")["jobs"].size(), 1);
  EXPECT_EQ(Get(bob, "/v1/jobs")["jobs"].size(), 0);
  EXPECT_EQ(Ask(bob, "GET", "/v1/jobs/" + id).status, 404);
  EXPECT_EQ(Ask(bob, "GET", absl::StrCat("/v1/jobs/", id, "/events")).status, 404);
  EXPECT_EQ(Ask(bob, "GET", absl::StrCat("/v1/jobs/", id, "/files/out/x")).status, 404);
  EXPECT_EQ(Ask(bob, "POST", absl::StrCat("/v1/jobs/", id, "/cancel")).status, 404);
  // Its files are no use to others who know their digest.
  const std::string digest = Upload(ann, "model");
  Json job = MockJob();
  job["inputs"] = {{{"name", "in/model"}, {"sha256", digest}}};
  EXPECT_EQ(Post(ann, "/v1/jobs", job).status, 201);
  EXPECT_EQ(Post(bob, "/v1/jobs", job).status, 404);
}

TEST_F(RestTest, IdsOfJobsTellNothingOfOthers) {
  const std::string ann = Token("ann", AccessRole::kMember), bob = Token("bob", AccessRole::kMember);
  EXPECT_EQ(Submit(ann, MockJob("net")), "net-1");
  EXPECT_EQ(Submit(bob, MockJob("net", 3)), "net-1");
  EXPECT_EQ(Submit(bob, MockJob("fd")), "fd-2");
  EXPECT_EQ(Submit(ann, MockJob("net")), "net-2");
  // Each reaches its own by the same id.
  EXPECT_EQ(Ask(bob, "POST", "/v1/jobs/net-1/cancel").status, 200);
  EXPECT_EQ(Get(bob, "/v1/jobs/net-1")["state"], "cancelled");
  EXPECT_EQ(Get(ann, "/v1/jobs/net-1")["state"], "waiting");
  EXPECT_EQ(Ask(ann, "GET", "/v1/jobs/fd-2").status, 404);
  EXPECT_EQ(Ask(ann, "GET", "/v1/jobs/net-1@bob").status, 404);
  EXPECT_NE(Ask(ann, "GET", "/v1/jobs/net-1/events").events->Take().text.find("\"state\":\"waiting\""),
            std::string::npos);
  const Json page = Get(bob, "/v1/jobs?most=1");
  const Json next = Get(bob, "/v1/jobs?cursor=" + page["next_cursor"].get<std::string>());
  EXPECT_EQ(page["jobs"][0]["id"], "fd-2");
  ASSERT_EQ(next["jobs"].size(), 1u);
  EXPECT_EQ(next["jobs"][0]["id"], "net-1");
}

TEST_F(RestTest, TheSameKeyIsTheSameJob) {
  const std::string token = Token("ann", AccessRole::kMember), other = Token("bob", AccessRole::kMember);
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i)
    ids.insert(Json::parse(Post(token, "/v1/jobs", MockJob(), {{"idempotency-key", "k"}}).body)["id"]);
  EXPECT_EQ(ids.size(), 1);
  EXPECT_EQ(Post(token, "/v1/jobs", MockJob("other"), {{"idempotency-key", "k"}}).status, 422);
  EXPECT_EQ(Post(other, "/v1/jobs", MockJob(), {{"idempotency-key", "k"}}).status, 201);
  EXPECT_EQ(Get(token, "/v1/jobs")["jobs"].size(), 1);
  // A refused request may be corrected.
  const Json wrong = {{"name", "a"}, {"kind", "mock"}, {"settings", {{"x", 1}}}};
  EXPECT_EQ(Post(token, "/v1/jobs", wrong, {{"idempotency-key", "l"}}).status, 400);
  EXPECT_EQ(Post(token, "/v1/jobs", MockJob(), {{"idempotency-key", "l"}}).status, 201);
}

TEST_F(RestTest, JobsComePageByPage) {
  const std::string token = Token("ann", AccessRole::kMember);
  for (int i = 0; i < 5; ++i) Submit(token, MockJob());
  std::vector<std::string> ids;
  std::string cursor;
  do {
    const Json page = Get(token, absl::StrCat("/v1/jobs?most=2&cursor=", cursor));
    for (const Json& job : page["jobs"]) ids.push_back(job["id"]);
    cursor = page["next_cursor"].is_null() ? "" : page["next_cursor"].get<std::string>();
  } while (!cursor.empty());
  EXPECT_THAT(ids, ::testing::ElementsAre("mock-5", "mock-4", "mock-3", "mock-2", "mock-1"));
  EXPECT_EQ(Ask(token, "GET", "/v1/jobs?cursor=%21").status, 400);
  EXPECT_EQ(Get(token, "/v1/jobs?state=done")["jobs"].size(), 0);
  EXPECT_EQ(Get(token, "/v1/jobs?state=waiting")["jobs"].size(), 5);
}

TEST_F(RestTest, WhatHasNotChangedIsNotSentAgain) {
  const std::string token = Token("ann", AccessRole::kMember);
  const std::string path = "/v1/jobs/" + Submit(token, MockJob());
  const std::string tag = Ask(token, "GET", path).headers.at("ETag");
  EXPECT_EQ(Ask(token, "GET", path, "", {{"if-none-match", "\"x\", W/" + tag}}).status, 304);
  EXPECT_EQ(Ask(token, "POST", path + "/cancel").status, 200);
  const HttpResponse changed = Ask(token, "GET", path, "", {{"if-none-match", tag}});
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(Json::parse(changed.body)["state"], "cancelled");
}

TEST_F(RestTest, EventsFollowAJobToItsEnd) {
  const std::string token = Token("ann", AccessRole::kMember);
  const std::string id = Submit(token, MockJob("followed", 3)),
                    path = absl::StrCat("/v1/jobs/", id, "/events");
  const HttpResponse response = Ask(token, "GET", path);
  ASSERT_NE(response.events, nullptr);
  const std::string first = response.events->Take().text;
  EXPECT_THAT(first, HasSubstr("event: job\ndata: {\"id\":\"followed-1\""));
  const auto runner = Runner("ann");
  std::string text;
  testing::AwaitThat([&] {
    const EventStream::Pending pending = response.events->Take();
    text += pending.text;
    return pending.is_closed && pending.text.empty();
  });
  const size_t last = text.rfind("id: ");
  ASSERT_NE(last, std::string::npos);
  EXPECT_THAT(text.substr(last), HasSubstr("\"state\":\"done\""));
  const std::string last_id = text.substr(last + 4, text.find('\n', last) - last - 4);
  EXPECT_EQ(Ask(token, "GET", path, "", {{"last-event-id", last_id}}).status, 204);
  const HttpResponse again = Ask(token, "GET", path, "", {{"last-event-id", "older"}});
  const EventStream::Pending pending = again.events->Take();
  EXPECT_THAT(pending.text, HasSubstr(last_id));
  EXPECT_TRUE(pending.is_closed);
  EXPECT_EQ(Get(token, "/v1/jobs/" + id)["stages"].size(), 4);
}

TEST_F(RestTest, DevicesAreShown) {
  const auto agent = fleet_.Agent([](const MeasureItem&) { return MockAnswer(); });
  const std::string token = Token("ann", AccessRole::kViewer);
  testing::AwaitThat([&] { return Get(token, "/v1/devices")["devices"].size() == 1; });
  const Json device = Get(token, "/v1/devices?key=desk")["devices"][0];
  EXPECT_EQ(device["fingerprint"], "board");
  EXPECT_EQ(device["state"], "free");
  EXPECT_EQ(Get(token, "/v1/devices?key=none")["devices"].size(), 0);
}

TEST_F(RestTest, ATokenHasItsRate) {
  Gate strict(callers_, audit_log_, tenants_, {.at_once = 2, .seconds_each = 100});
  const HttpRouter router = RouterOf(api_, strict);
  const auto ask = [&](const std::string& token) {
    return router.Answer(
        {.method = "GET", .path = "/v1/me", .headers = {{"authorization", "Bearer " + token}}});
  };
  const std::string token = Token("ann", AccessRole::kViewer);
  EXPECT_EQ(ask(token).status, 200);
  EXPECT_EQ(ask(token).status, 200);
  const HttpResponse refused = ask(token);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.at("Retry-After"), "100");
  EXPECT_EQ(ask(Token("ann", AccessRole::kViewer)).status, 200);
}

}  // namespace
}  // namespace attune
