// Models over REST.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "process/server/rest_for_test.h"
#include "service/models/hostile_models_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class ModelsRestTest : public RestTest {
 protected:
  // Once it is imported.
  Json Add(const std::string& token, const Json& model) {
    const HttpResponse added = Post(token, "/v1/models", model);
    EXPECT_EQ(added.status, 201) << added.body;
    Json shown = Json::parse(added.body);
    while (shown["state"] == "importing") {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      shown = Get(token, "/v1/models/" + shown["id"].get<std::string>());
    }
    return shown;
  }

  const std::string ann_ = Token("ann", AccessRole::kMember);
};

TEST_F(ModelsRestTest, ABadModelIsRefusedAndSoAreItsJobs) {
  const std::string digest = Upload(ann_, "no model");
  const Json model = Add(ann_, {{"name", "<script>.onnx"}, {"sha256", digest}});
  EXPECT_EQ(model["id"], digest);
  EXPECT_EQ(model["state"], "refused");
  EXPECT_THAT(model["error"].get<std::string>(), HasSubstr("<script>.onnx: "));
  const HttpResponse job = Post(ann_, "/v1/jobs",
                                {{"name", "net"},
                                 {"kind", "tuning"},
                                 {"on", "desk"},
                                 {"inputs", {{{"name", "in/net.onnx"}, {"sha256", digest}}}},
                                 {"settings", {{"model", "in/net.onnx"}}}});
  EXPECT_EQ(job.status, 422);
  EXPECT_THAT(Detail(job), HasSubstr(model["error"].get<std::string>()));
  EXPECT_EQ(Ask(ann_, "DELETE", "/v1/models/" + digest).status, 204);
  EXPECT_EQ(Ask(ann_, "GET", "/v1/models/" + digest).status, 404);
}

TEST_F(ModelsRestTest, OneIsTheTenantsOwn) {
  const std::string bob = Token("bob", AccessRole::kMember), viewer = Token("ann", AccessRole::kViewer);
  const std::string digest = Upload(ann_, "no model");
  Add(ann_, {{"name", "net"}, {"sha256", digest}});
  for (const char* method : {"GET", "DELETE"})
    EXPECT_EQ(Ask(bob, method, "/v1/models/" + digest).status, 404);
  EXPECT_EQ(Get(bob, "/v1/models")["models"].size(), 0u);
  EXPECT_EQ(Post(bob, "/v1/models", {{"name", "net"}, {"sha256", digest}}).status, 409);
  EXPECT_EQ(Post(viewer, "/v1/models", {{"name", "net"}, {"sha256", digest}}).status, 403);
  EXPECT_EQ(Ask(viewer, "DELETE", "/v1/models/" + digest).status, 403);
  EXPECT_EQ(Get(viewer, "/v1/models")["models"].size(), 1u);
}

TEST_F(ModelsRestTest, TheListHasPages) {
  for (const char* content : {"1", "2", "3"})
    Add(ann_, {{"name", content}, {"sha256", Upload(ann_, content)}});
  const Json first = Get(ann_, "/v1/models?most=2");
  ASSERT_EQ(first["models"].size(), 2u);
  const Json second = Get(ann_, "/v1/models?most=2&cursor=" + first["next_cursor"].get<std::string>());
  ASSERT_EQ(second["models"].size(), 1u);
  EXPECT_TRUE(second["next_cursor"].is_null());
  EXPECT_EQ(Ask(ann_, "GET", "/v1/models?cursor=nonsense").status, 400);
}

TEST_F(ModelsRestTest, WhatIsNoModelIsRefusedAtOnce) {
  const std::string digest = Upload(ann_, "x");
  EXPECT_EQ(Post(ann_, "/v1/models", {{"name", "../x"}, {"sha256", digest}}).status, 400);
  EXPECT_EQ(Post(ann_, "/v1/models", {{"name", "x"}, {"sha256", std::string(64, '0')}}).status, 409);
  const Json shapes = {"no shape"};
  EXPECT_EQ(Post(ann_, "/v1/models", {{"name", "x"}, {"sha256", digest}, {"shapes", shapes}}).status, 400);
}

}  // namespace
}  // namespace attune
