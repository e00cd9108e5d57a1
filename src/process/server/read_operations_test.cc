// Operations that the page reads lists and states with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/await_that.h"
#include "process/server/rest_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(RestTest, EventsFollowAllJobsOfATenant) {
  const std::string ann = Token("ann", AccessRole::kMember), bob = Token("bob", AccessRole::kMember);
  const std::string before = Submit(ann, MockJob("before"));
  const HttpResponse response = Ask(ann, "GET", "/v1/events");
  ASSERT_NE(response.events, nullptr);
  Submit(bob, MockJob("of-bob"));
  const std::string after = Submit(ann, MockJob("after"));
  std::string text;
  testing::AwaitThat([&] {
    text += response.events->Take().text;
    return text.find(after) != std::string::npos;
  });
  EXPECT_THAT(text, Not(HasSubstr("of-bob")));
  EXPECT_EQ(Ask(ann, "POST", absl::StrCat("/v1/jobs/", before, "/cancel")).status, 200);
  testing::AwaitThat([&] {
    text += response.events->Take().text;
    return text.find("\"state\":\"cancelled\"") != std::string::npos;
  });
  EXPECT_THAT(text, HasSubstr(before));
  events_.Stop();
  EXPECT_TRUE(response.events->is_closed());
}

TEST_F(RestTest, UploadsAreListed) {
  const std::string ann = Token("ann", AccessRole::kMember), bob = Token("bob", AccessRole::kMember);
  const std::string whole = Upload(ann, "whole"), part = Sha256Hex("a part");
  Post(ann, "/v1/uploads", {{"sha256", part}, {"bytes", 6}});
  Patch(ann, part, 0, "a ");
  const Json uploads = Get(ann, "/v1/uploads")["uploads"];
  ASSERT_EQ(uploads.size(), 2);
  for (const Json& upload : uploads) {
    EXPECT_EQ(upload["is_complete"], upload["sha256"] == whole);
    EXPECT_EQ(upload["offset"], upload["sha256"] == whole ? 5 : 2);
  }
  EXPECT_EQ(Get(bob, "/v1/uploads")["uploads"].size(), 0);
}

TEST_F(RestTest, CalibrationsOfADeviceAreListed) {
  const auto agent = fleet_.Agent([](const MeasureItem&) { return MockAnswer(); });
  const std::string token = Token("ann", AccessRole::kViewer);
  testing::AwaitThat([&] { return Get(token, "/v1/devices")["devices"].size() == 1; });
  const std::string device = Get(token, "/v1/devices")["devices"][0]["id"];
  const std::string path = absl::StrCat("/v1/calibrations?device=", device);
  EXPECT_EQ(Get(token, path)["calibrations"].size(), 0);
  const Peaks peaks = {.gflops_per_core = 40,
                       .bf16_gflops_per_core = 40,
                       .int8_gops_per_core = 80,
                       .l2_gb_per_s = 30,
                       .l3_gb_per_s = 20,
                       .memory_gb_per_s = 10};
  ASSERT_TRUE(fleet_store_->AddCalibration(device, {.time_ms = 1, .peaks = peaks}).ok());
  const Json calibration = Get(token, path)["calibrations"][0];
  EXPECT_EQ(calibration["gflops_per_core"], 40);
  EXPECT_EQ(calibration["time"], "1970-01-01T00:00:00.001Z");
  EXPECT_EQ(Ask(token, "GET", "/v1/calibrations").status, 400);
}

TEST_F(RestTest, TheQueueIsEmptyAtRest) {
  EXPECT_EQ(Get(Token("ann", AccessRole::kViewer), "/v1/queue")["waiting"].size(), 0);
}

}  // namespace
}  // namespace attune
