// Whose devices are shown, shared and trusted over REST.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fleet/server/made_up_agent_for_test.h"
#include "process/server/rest_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class DevicesRestTest : public RestTest {
 protected:
  HttpResponse Share(const std::string& token, const Json& owners) {
    return Ask(token, "PUT", "/v1/device-sharing?device=desk/cpu", Json{{"shared_with", owners}}.dump());
  }
  HttpResponse Trust(const std::string& token, const std::string& tenant, const Json& owners) {
    return Ask(token, "PUT", "/v1/tenants/" + tenant + "/trust", Json{{"owners", owners}}.dump());
  }
  Json Devices(const std::string& token) { return Get(token, "/v1/devices")["devices"]; }

  const MadeUpAgent agent_{*dispatcher_, nullptr, {.owner = "ann", .keys = {"desk"}}};
  const std::string ann_ = Token("ann", AccessRole::kOperator), bob_ = Token("bob", AccessRole::kOperator);
  const Json job_ = {{"name", "mock"},
                     {"kind", "mock"},
                     {"on", "desk"},
                     {"settings", {{"stages", {{{"name", "time"}, {"device", true}}}}}}};
};

TEST_F(DevicesRestTest, ADeviceIsItsOwnersUntilBothSidesConsent) {
  EXPECT_EQ(Devices(ann_).size(), 1);
  EXPECT_EQ(Devices(bob_).size(), 0);
  EXPECT_EQ(Post(ann_, "/v1/jobs", job_).status, 201);
  EXPECT_EQ(Post(bob_, "/v1/jobs", job_).status, 404);

  EXPECT_EQ(Share(bob_, {"bob"}).status, 404);
  EXPECT_EQ(Share(Token("ann", AccessRole::kMember), {"bob"}).status, 403);
  EXPECT_EQ(Share(ann_, {"two words"}).status, 400);
  const HttpResponse shared = Share(ann_, {"bob"});
  ASSERT_EQ(shared.status, 200) << shared.body;
  EXPECT_EQ(Json::parse(shared.body)["shared_with"], Json({"bob"}));
  const Json seen = Devices(bob_);
  ASSERT_EQ(seen.size(), 1);
  EXPECT_EQ(seen[0]["owner"], "ann");
  EXPECT_EQ(seen[0]["is_usable"], false);
  EXPECT_EQ(seen[0]["shared_with"].size(), 0);  // which is told to the owner alone
  const HttpResponse distrusted = Post(bob_, "/v1/jobs", job_);
  EXPECT_EQ(distrusted.status, 403);
  EXPECT_THAT(Detail(distrusted), HasSubstr("whose devices bob does not trust"));

  EXPECT_EQ(Trust(ann_, "bob", {"ann"}).status, 404);
  EXPECT_EQ(Trust(bob_, "bob", {"*"}).status, 400);
  ASSERT_EQ(Trust(bob_, "bob", {"ann"}).status, 200);
  EXPECT_EQ(Get(bob_, "/v1/tenants/bob/trust")["owners"], Json({"ann"}));
  EXPECT_EQ(Devices(bob_)[0]["is_usable"], true);
  EXPECT_EQ(Post(bob_, "/v1/jobs", job_).status, 201);

  ASSERT_EQ(Share(ann_, Json::array()).status, 200);
  EXPECT_EQ(Devices(bob_).size(), 0);
  EXPECT_EQ(Post(bob_, "/v1/jobs", job_).status, 404);
}

TEST_F(DevicesRestTest, AdminsSeeAllAndShareTheirOwn) {
  const std::string admin = Token("server", AccessRole::kAdmin);
  ASSERT_EQ(Devices(admin).size(), 1);
  EXPECT_EQ(Devices(admin)[0]["is_usable"], false);
  EXPECT_EQ(Share(admin, {"*"}).status, 404);
  EXPECT_EQ(Share(ann_, {"*"}).status, 200);
  EXPECT_EQ(Devices(admin)[0]["shared_with"], Json({"*"}));
  EXPECT_EQ(Get(Token("eve", AccessRole::kViewer), "/v1/tenants/eve/trust")["owners"], Json({"server"}));
}

TEST_F(DevicesRestTest, ADisturbedDeviceSaysSo) {
  EXPECT_EQ(Devices(ann_)[0]["is_disturbed"], false);
  MadeUpAgent disturbed(*dispatcher_, nullptr, {.id = "busy", .owner = "bob", .disturbance = 0.9});
  disturbed.Tick();
  EXPECT_EQ(Devices(bob_)[0]["is_disturbed"], true);
  EXPECT_EQ(Devices(bob_)[0]["disturbance"], 0.9);
  // A share that is none is not believed.
  MadeUpAgent liar(*dispatcher_, nullptr, {.id = "liar", .owner = "eve", .disturbance = NAN});
  liar.Tick();
  EXPECT_EQ(Devices(Token("eve", AccessRole::kViewer))[0]["disturbance"], 0);
}

TEST_F(DevicesRestTest, CalibrationsAreShownToWhoeverSeesTheDevice) {
  const std::string path = "/v1/calibrations?device=desk/cpu";
  EXPECT_EQ(Get(ann_, path)["calibrations"].size(), 0);
  EXPECT_EQ(Ask(bob_, "GET", path).status, 404);
}

}  // namespace
}  // namespace attune
