#include "service/agreement/observation.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tune/job/recording.h"

namespace attune {
namespace {

using Json = nlohmann::json;

// The result of a tuning job, as a runner tells it.
Json Result() {
  const Json task = {{"task", "t"},     {"description", "conv+relu 1x8"},
                     {"kernel", "k"},   {"uses", 2},
                     {"flops", 1e9},    {"bound_ms", 1},
                     {"untuned_ms", 3}, {"tuned_ms", 2}};
  return {{"seconds", 12},
          {"tasks", {task}},
          {"judged",
           {{"network", "n"},
            {"interface", "i"},
            {"device", "d"},
            {"threads", 1},
            {"compiler", "c"},
            {"kernels", "k"},
            {"artifact_bytes", 1e6},
            {"weight_bytes", 1e5},
            {"runs", 100},
            {"mean_ms", {2, 1.9, 2.1}},
            {"p99_ms", {3, 2.9, nullptr}},
            {"peaks", ToJson(Peaks{})}}}};
}

absl::StatusOr<Observation> Observed(const Json& result) {
  JobRecord job;
  job.spec = {.id = "net-1@ann", .kind = "tuning", .owner = "ann", .settings = Json::object()};
  job.state = JobState::kDone;
  job.result = result.dump();
  return ObservationOf(job);
}

TEST(ObservationTest, IsTheSameFromItsJson) {
  const auto observation = Observed(Result());
  ASSERT_TRUE(observation.ok()) << observation.status();
  EXPECT_EQ(observation->tasks.size(), 1u);
  const auto read = ObservationOfJson(ToJson(*observation));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToJson(*read), ToJson(*observation));
}

TEST(ObservationTest, NumbersThatAreNoneAreRefused) {
  constexpr const char* kNone[] = {
      "-1", "1e300", "9223372036854775808", "18446744073709551616", "0.5", "\"1\"", "null", "[]"};
  for (const char* place : {"/judged/threads", "/judged/runs", "/tasks/0/uses"}) {
    for (const char* number : kNone) {
      Json result = Result();
      result[Json::json_pointer(place)] = Json::parse(number);
      EXPECT_TRUE(absl::IsInvalidArgument(Observed(result).status())) << place << " " << number;
    }
  }
  for (const char* place : {"/judged/artifact_bytes", "/judged/weight_bytes", "/seconds", "/tasks/0/flops"}) {
    for (const char* number : {"-1", "\"1\"", "null", "[]"}) {
      Json result = Result();
      result[Json::json_pointer(place)] = Json::parse(number);
      EXPECT_TRUE(absl::IsInvalidArgument(Observed(result).status())) << place << " " << number;
    }
  }
}

TEST(ObservationTest, AKnownAnswerTeachesNothingNew) {
  Json known = Result();
  known["is_known"] = true;
  known["judged"].erase("interface");  // as answers from another job have it
  EXPECT_TRUE(absl::IsNotFound(Observed(known).status()));
}

}  // namespace
}  // namespace attune
