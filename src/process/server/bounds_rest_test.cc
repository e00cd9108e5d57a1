// Everything that the interface takes is bounded, and what is stored wrongly blocks itself alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json_numbers.h"
#include "fleet/server/made_up_agent_for_test.h"
#include "process/server/rest_for_test.h"
#include "work/job/job_id.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The schemas in a document that leave something unbounded, by their JSON pointers.
void FindUnbounded(const nlohmann::json& json, const std::string& pointer, std::vector<std::string>& found) {
  if (json.is_object() && json.contains("type") && !json["type"].is_object()) {
    const nlohmann::json types =
        json["type"].is_array() ? json["type"] : nlohmann::json::array({json["type"]});
    const auto is_of = [&](const char* type) { return std::ranges::find(types, type) != types.end(); };
    const auto has = [&](const char* key) { return json.contains(key); };
    const bool is_number = is_of("integer") || is_of("number");
    if (is_number && !(has("minimum") && has("maximum")) && !has("enum")) found.push_back(pointer);
    if (is_of("string") && !has("maxLength") && !has("enum") && !has("format") && !has("pattern"))
      found.push_back(pointer);
    if (is_of("array") && !(has("maxItems") && has("items"))) found.push_back(pointer);
  }
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items()) FindUnbounded(value, absl::StrCat(pointer, "/", key), found);
}

TEST_F(RestTest, EverySchemaIsBounded) {
  std::vector<std::string> found;
  FindUnbounded(document_, "", found);
  EXPECT_THAT(found, ::testing::IsEmpty());
  // And the search finds what it should.
  const Json wrong = {{{"type", "string"}},
                      {{"type", {"integer", "null"}}, {"minimum", 0}},
                      {{"type", "array"}, {"maxItems", 1}}};
  FindUnbounded(wrong, "", found);
  EXPECT_EQ(found.size(), 3u);
}

TEST_F(RestTest, NamesOfInputsAreCheckedBeforeTheyAreUsed) {
  const std::string token = Token("ann", AccessRole::kMember), digest = Upload(token, "0123456789");
  const MadeUpAgent agent(*dispatcher_, nullptr, {.owner = "ann", .keys = {"desk"}});
  for (const char* name : {"x", "", "/", "//", "in", "in/", "/in/x", "in//x", "in/../x", "./in/x", "in/x/",
                           "out/x", "in/x\n", "in/\x7F"}) {
    for (const char* kind : {"mock", "tuning", "quantization", "program"}) {
      Json job = {{"name", "p"},
                  {"kind", kind},
                  {"inputs", {{{"name", name}, {"sha256", digest}}}},
                  {"settings", {{"model", name}}}};
      if (std::string(kind) != "mock") job["on"] = "desk";
      for (const char* path : {"/v1/jobs", "/v1/predictions"}) {
        const HttpResponse refused = Post(token, path, job);
        EXPECT_EQ(refused.status, 400) << path << " " << job << refused.body;
      }
    }
  }
  EXPECT_THAT(Get(token, "/v1/jobs")["jobs"], ::testing::IsEmpty());
}

TEST_F(RestTest, SizesThatAreNoneAreRefused) {
  const std::string token = Token("ann", AccessRole::kMember), digest = Sha256Hex("x");
  for (const char* bytes :
       {"-1", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "1e300", "1e400", "0.5", "NaN", "null", "\"1\"", "[1]", "{}", "true"}) {
    const std::string body = absl::StrCat(R"({"sha256": ")", digest, R"(", "bytes": )", bytes, "}");
    EXPECT_EQ(Ask(token, "POST", "/v1/uploads", body).status, 400) << bytes;
    EXPECT_EQ(Get(token, "/v1/uploads")["uploads"].size(), 0u) << bytes;
  }
  // The largest that the schema takes is beyond the quota.
  EXPECT_EQ(Post(token, "/v1/uploads", {{"sha256", digest}, {"bytes", kMaxJsonInteger}}).status, 403);
}

// Changes a row of a store behind the server's back.
void Damage(const std::string& folder, const SqlSchema& schema, const std::string& sql) {
  const auto database = SqlLocation(folder).Open(schema);
  ASSERT_TRUE(database.ok()) << database.status();
  const auto changed = (*database)->Write([&](SqlSession& session) { return ChangeRows(session, sql); });
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(*changed, 1) << sql;
}

TEST_F(RestTest, ABadRowBlocksItselfAlone) {
  const std::string token = Token("ann", AccessRole::kOperator), folder = fleet_.folder().path();
  const std::string good = Upload(token, "good"), bad = Sha256Hex("bad");
  ASSERT_EQ(Post(token, "/v1/uploads", {{"sha256", bad}, {"bytes", 3}}).status, 201);
  const std::string ready =
      Json::parse(Post(token, "/v1/models", {{"name", "m.onnx"}, {"sha256", good}}).body)["id"];
  const std::string first = Submit(token, MockJob()), second = Submit(token, MockJob());
  Token("ann", AccessRole::kViewer);
  Damage(folder, ServiceSchema(),
         absl::StrCat("UPDATE uploads SET bytes = ", INT64_MIN, " WHERE digest = '", bad, "'"));
  Damage(folder, ServiceSchema(), "UPDATE tokens SET role = 'king' WHERE role = 'viewer'");
  Damage(folder, ModelSchema(), absl::StrCat("UPDATE models SET source = '{}' WHERE id = '", ready, "'"));
  Damage(folder + "/server", JobSchema(),
         absl::StrCat("UPDATE jobs SET files = '{' WHERE id = '", StoredJobId(first, "ann"), "'"));

  EXPECT_EQ(Get(token, "/v1/tokens")["tokens"].size(), 1u);
  EXPECT_EQ(Get(token, "/v1/jobs")["jobs"].size(), 2u);
  EXPECT_THAT(Get(token, "/v1/jobs/" + first)["error"].get<std::string>(), HasSubstr("has not stored"));
  EXPECT_EQ(Get(token, "/v1/models")["models"].size(), 1u);
  EXPECT_EQ(Get(token, "/v1/models/" + ready)["state"], "refused");
  EXPECT_EQ(Get(token, "/v1/tenants/ann")["used"]["stored_bytes"], 4);
  // It goes by itself, or when it is asked to.
  EXPECT_EQ(Get(token, "/v1/uploads")["uploads"].size(), 1u);
  EXPECT_EQ(Ask(token, "GET", "/v1/uploads/" + bad).status, 404);
  EXPECT_EQ(Upload(token, "bad"), bad);
  EXPECT_EQ(Post(token, "/v1/models", {{"name", "m.onnx"}, {"sha256", good}}).status, 201);
  EXPECT_EQ(Ask(token, "DELETE", "/v1/models/" + ready).status, 204);
  EXPECT_EQ(Ask(token, "POST", "/v1/jobs/" + first + "/cancel").status, 200);
  Submit(token, MockJob());
}

TEST_F(RestTest, ABadUploadCanBeForgottenWithoutALook) {
  const std::string token = Token("ann", AccessRole::kMember), bad = Sha256Hex("bad");
  ASSERT_EQ(Post(token, "/v1/uploads", {{"sha256", bad}, {"bytes", 3}}).status, 201);
  Damage(fleet_.folder().path(), ServiceSchema(), "UPDATE uploads SET bytes = -1");
  EXPECT_EQ(Ask(token, "DELETE", "/v1/uploads/" + bad).status, 204);
  EXPECT_EQ(Get(token, "/v1/uploads")["uploads"].size(), 0u);
}

TEST_F(RestTest, NoProblemTellsAPathOfTheServer) {
  const std::string token = Token("ann", AccessRole::kMember), folder = fleet_.folder().path();
  const auto database = SqlLocation(folder).Open(ModelSchema());
  ASSERT_TRUE(
      (*database)->Write([](SqlSession& session) { return ChangeRows(session, "DROP TABLE models"); }).ok());
  const HttpResponse refused =
      Post(token, "/v1/models", {{"name", "m.onnx"}, {"sha256", Upload(token, "m")}});
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Detail(refused), ::testing::StartsWith("models.db: "));
  EXPECT_THAT(refused.body, Not(HasSubstr(folder)));
}

}  // namespace
}  // namespace attune
