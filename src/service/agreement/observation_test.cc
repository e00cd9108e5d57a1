#include "service/agreement/observation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "service/agreement/promises_of_job.h"
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

// The places of all values in it, as JSON pointers.
void AddPlaces(const Json& json, const Json::json_pointer& at, std::vector<Json::json_pointer>& places) {
  places.push_back(at);
  if (json.is_object())
    for (const auto& [key, value] : json.items()) AddPlaces(value, at / key, places);
  if (json.is_array())
    for (size_t i = 0; i < json.size(); ++i) AddPlaces(json[i], at / i, places);
}

// A result with any value at any one place gives an observation or an error, and no exception.
TEST(ObservationTest, NothingThatARunnerWritesThrows) {
  Json whole = Result();
  whole["judged"]["is_disturbed"] = false;
  whole["is_known"] = false;
  std::vector<Json::json_pointer> places;
  AddPlaces(whole, Json::json_pointer(), places);
  KeptAgreement kept;
  for (const char* name : {kLatencyMean, kLatencyP99, kSizeBytes, kAccuracyLoss, kDeadline, kDeviceSeconds})
    kept.promises.push_back({.name = name, .limit = 1});
  const Json values[] = {nullptr, true,          -1,        1e300,          "",
                         "text",  Json::array(), {nullptr}, Json::object(), {{"x", nullptr}}};
  for (const Json::json_pointer& place : places) {
    for (const Json& value : values) {
      Json result = whole;
      result[place] = value;
      EXPECT_NO_THROW(Observed(result).status().IgnoreError()) << place << " " << value;
      for (const char* kind : {"tuning", "quantization"})
        EXPECT_NO_THROW(PromisesOf({.kind = kind,
                                    .state = "done",
                                    .agreement = kept.ToText(),
                                    .figures = result.dump(),
                                    .result = result.dump()}))
            << place << " " << value;
    }
  }
}

TEST(ObservationTest, AKnownAnswerTeachesNothingNew) {
  Json known = Result();
  known["is_known"] = true;
  known["judged"].erase("interface");  // as answers from another job have it
  EXPECT_TRUE(absl::IsNotFound(Observed(known).status()));
}

using ::testing::HasSubstr;

// A tuning job that has judged the network "n", and has left an artifact.
JobRecord JudgedJob(const std::string& agreement) {
  const nlohmann::json judged = {{"network", "n"},
                                 {"interface", "input x f32[1]\n"},
                                 {"device", "board"},
                                 {"threads", 1},
                                 {"compiler", "1"},
                                 {"kernels", "k"},
                                 {"artifact_bytes", 7},
                                 {"weight_bytes", 3},
                                 {"runs", 400},
                                 {"mean_ms", {2, 1, 3}},
                                 {"p99_ms", {4, 3, nullptr}},
                                 {"peaks", ToJson(Peaks{})}};
  JobRecord job;
  job.spec = {.id = "net-1",
              .kind = "tuning",
              .owner = "ann",
              .settings = {{"output", "out/net.atn"}},
              .base = "files",
              .agreement = agreement};
  job.state = JobState::kDone;
  job.result = nlohmann::json{{"seconds", 5}, {"tasks", nlohmann::json::array()}, {"judged", judged}}.dump();
  job.files = {{"in/net.onnx", std::string(64, 'a'), 1}, {"out/net.atn", std::string(64, 'b'), 9}};
  return job;
}

TEST(ObservationTest, AnArtifactAnswersForTheNetworkThatTheServerKnows) {
  const KeptAgreement kept = {.network = "n", .interface = "input x f32[1]\n"};
  const auto seen = ObservationOf(JudgedJob(kept.ToText()));
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_EQ(seen->artifact.name, "out/net.atn");
  EXPECT_EQ(seen->mean_ms.high, 3);
  EXPECT_EQ(seen->files_owner, "files");
}

TEST(ObservationTest, WhatAJobSaysOfItselfAnswersNobody) {
  // Without an agreement, and with one of a server that did not note the network.
  nlohmann::json before = nlohmann::json::parse(KeptAgreement().ToText());
  before.erase("network");
  before.erase("interface");
  before["is_shared"] = true;
  for (const std::string& agreement : {std::string(), before.dump()}) {
    const auto seen = ObservationOf(JudgedJob(agreement));
    ASSERT_TRUE(seen.ok()) << seen.status();
    EXPECT_EQ(seen->artifact, JobFile());
    EXPECT_EQ(seen->network, "n");
  }
  for (const KeptAgreement& other : {KeptAgreement{.network = "other", .interface = "input x f32[1]\n"},
                                     KeptAgreement{.network = "n", .interface = "input x f32[2]\n"}})
    EXPECT_THAT(std::string(ObservationOf(JudgedJob(other.ToText())).status().message()),
                HasSubstr("net-1: has judged a network other than its model's"));
}

TEST(ObservationTest, AnAnswerIsNoMeasurement) {
  JobRecord job = JudgedJob("");
  nlohmann::json result = nlohmann::json::parse(job.result);
  result["is_known"] = true;
  job.result = result.dump();
  EXPECT_TRUE(absl::IsNotFound(ObservationOf(job).status()));
  job = JudgedJob("");
  job.state = JobState::kFailed;
  EXPECT_TRUE(absl::IsNotFound(ObservationOf(job).status()));
}

}  // namespace
}  // namespace attune
