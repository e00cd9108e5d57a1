// Agreements over REST: what is known is answered at once, and what is impossible is refused.
#include <gmock/gmock.h>

#include "base/testing/await_that.h"
#include "compile/compile.h"
#include "fleet/server/made_up_agent_for_test.h"
#include "process/server/rest_for_test.h"
#include "service/agreement/observations_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class AgreementsRestTest : public RestTest {
 protected:
  Json Asking(const Json& agreement) {
    return {{"name", "net"},
            {"kind", "tuning"},
            {"on", "desk"},
            {"inputs", {{{"name", "in/net.onnx"}, {"sha256", digest_}}}},
            {"settings", {{"model", "in/net.onnx"}, {"trials", 50}}},
            {"agreement", agreement}};
  }
  Json Predict(const Json& agreement, int status = 200) {
    const HttpResponse response = Post(ann_, "/v1/predictions", Asking(agreement));
    EXPECT_EQ(response.status, status) << response.body;
    return Json::parse(response.body);
  }
  // Says that the network takes about `seconds` on the device.
  Observation Known(double ms = 2) {
    const Json model = Get(ann_, "/v1/models/" + digest_);
    Observation known = MadeUpObservation(1);
    known.compiler = kCompilerVersion;
    known.network = model["facts"]["network"];
    known.interface = model["facts"]["interface"];
    known.mean_ms = {0.95 * ms, ms, 1.05 * ms};
    known.p99_ms = {1.1 * ms, 1.15 * ms, 1.25 * ms};
    known.artifact = Keep("files", "out/result.atn", "an artifact");
    return known;
  }
  void Teach(double ms = 2) { ASSERT_TRUE(agreements_.known().Add(Known(ms)).ok()); }

  MadeUpAgent agent_{*dispatcher_, nullptr, {.keys = {"desk"}}};
  const std::string ann_ = Token("ann", AccessRole::kMember);
  const std::string digest_ = Upload(ann_, ModelBytes());
};

TEST_F(AgreementsRestTest, TheImpossibleIsRefusedWithTheBound) {
  const Json prediction = Predict({{"latency_ms", {{"mean", 1e-6}}}});
  EXPECT_EQ(prediction["verdict"], "refused");
  EXPECT_EQ(prediction["promises"][0]["state"], "impossible");
  EXPECT_GT(prediction["bound_ms"].get<double>(), 1e-6);
  const HttpResponse refused = Post(ann_, "/v1/jobs", Asking({{"latency_ms", {{"mean", 1e-6}}}}));
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(Detail(refused), HasSubstr("below the roofline's bound of"));
  EXPECT_EQ(Get(ann_, "/v1/jobs")["jobs"].size(), 0u);
}

TEST_F(AgreementsRestTest, TheImprobableIsRenegotiatedAndTheRestBegins) {
  const Json agreement = {{"latency_ms", {{"mean", 1000}}}, {"deadline_seconds", 600}, {"priority", "high"}};
  Json hasty = agreement;
  hasty["deadline_seconds"] = 1;
  const Json prediction = Predict(hasty);
  EXPECT_EQ(prediction["verdict"], "renegotiated");
  ASSERT_EQ(prediction["offers"].size(), 1u);
  EXPECT_EQ(prediction["offers"][0]["name"], "deadline_seconds");
  EXPECT_EQ(Post(ann_, "/v1/jobs", Asking(hasty)).status, 409);

  const Json job = Get(ann_, "/v1/jobs/" + Submit(ann_, Asking(agreement)));
  EXPECT_EQ(job["state"], "waiting");
  EXPECT_EQ(job["priority"], 1);
  EXPECT_EQ(job["agreement"]["deadline_seconds"], 600);
  ASSERT_EQ(job["promises"].size(), 2u);
  EXPECT_EQ(job["promises"][0]["state"], "expected");
  EXPECT_EQ(Post(ann_, "/v1/jobs/" + job["id"].get<std::string>() + "/cancel", Json::object()).status, 200);
  EXPECT_EQ(Get(ann_, "/v1/jobs/" + job["id"].get<std::string>())["promises"][0]["state"], "broken");
}

TEST_F(AgreementsRestTest, NothingIsPromisedWithoutAMachine) {
  const Json agreement = {{"latency_ms", {{"mean", 1000}}}};
  const Json away = Predict(agreement);
  EXPECT_EQ(away["verdict"], "accepted");
  EXPECT_EQ(away["reason"], "the job would wait for its machine to come back: runner-away is not connected");
  ASSERT_TRUE(fleet_store_->RevokeIdentity("runner-away", {.reason = "test", .time_ms = 1}).ok());
  Json prediction;
  testing::AwaitThat([&] { return (prediction = Predict(agreement))["verdict"] == "refused"; });
  EXPECT_EQ(prediction["reason"],
            "the server cannot promise anything before there is a machine that runs jobs of ann: none has "
            "joined; an operator "
            "invites one with attune fleet invite --role runner --owner ann");
  EXPECT_EQ(prediction["promises"][0]["probability"], 0);
  EXPECT_EQ(Post(ann_, "/v1/jobs", Asking(agreement)).status, 409);
}

TEST_F(AgreementsRestTest, AKnownAnswerIsThereAtOnce) {
  Predict(Json::object());  // imports the model
  Teach();
  const Json agreement = {{"latency_ms", {{"mean", 2.2}, {"p99", 2.6}}}, {"deadline_seconds", 60}};
  EXPECT_EQ(Predict(agreement)["verdict"], "known");
  const Json job = Get(ann_, "/v1/jobs/" + Submit(ann_, Asking(agreement)));
  EXPECT_EQ(job["state"], "done");
  for (const Json& promise : job["promises"]) EXPECT_EQ(promise["state"], "met") << promise;
  const HttpResponse file =
      Ask(ann_, "GET", "/v1/jobs/" + job["id"].get<std::string>() + "/files/out/result.atn");
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(Get(ann_, "/v1/jobs")["jobs"][0]["promises"], job["promises"]);
  // One that it does not meet is tuned.
  EXPECT_NE(Predict({{"latency_ms", {{"mean", 2.05}}}})["verdict"], "known");
  // Another tenant does not learn of it.
  const std::string bob = Token("bob", AccessRole::kMember);
  Upload(bob, ModelBytes());
  EXPECT_NE(Json::parse(Post(bob, "/v1/predictions", Asking(agreement)).body)["verdict"], "known");
}

TEST_F(AgreementsRestTest, WhatWasMeasuredIsNeverContradicted) {
  const double bound = Predict(Json::object())["bound_ms"];  // imports the model
  const double measured = bound / 100;
  Teach(measured);
  // A known answer but for the size.
  const Json prediction =
      Predict({{"latency_ms", {{"mean", 1.2 * measured}}}, {"size_bytes", 10}, {"least_probability", 0}});
  EXPECT_EQ(prediction["verdict"], "accepted") << prediction;
  EXPECT_LE(prediction["bound_ms"].get<double>(), measured);
  EXPECT_NEAR(prediction["latency_ms"]["median"].get<double>() / measured, 1, 0.1);
  EXPECT_GT(prediction["promises"][0]["probability"].get<double>(), 0.8);
  EXPECT_THAT(prediction["promises"][0]["evidence"][0].get<std::string>(), HasSubstr("in 1 job"));
  // A request below it is refused all the same.
  EXPECT_EQ(Predict({{"latency_ms", {{"mean", measured / 2}}}})["verdict"], "refused");
}

TEST_F(AgreementsRestTest, ALossTakesSamplesToShowIt) {
  Json job = Asking({{"accuracy_loss", 0.01}});
  job["kind"] = "quantization";
  job["settings"] = {{"model", "in/net.onnx"}, {"data", "in/samples"}};
  const std::string sample = Upload(ann_, "a sample");
  for (int i = 0; i < 40; ++i)
    job["inputs"].push_back({{"name", "in/samples/" + std::to_string(i) + ".npy"}, {"sha256", sample}});
  const Json refused = Json::parse(Post(ann_, "/v1/predictions", job).body);
  EXPECT_EQ(refused["verdict"], "refused");
  EXPECT_THAT(refused["reason"].get<std::string>(), HasSubstr("0.01 needs 1748 samples: 437 must be judged"));
  EXPECT_THAT(refused["reason"].get<std::string>(), HasSubstr("the job has 40"));
  const HttpResponse response = Post(ann_, "/v1/jobs", job);
  EXPECT_EQ(response.status, 409);
  EXPECT_THAT(Detail(response), HasSubstr("needs 1748 samples"));
  // One that they can show, of one variant.
  job["agreement"] = {{"accuracy_loss", 0.5}, {"least_probability", 0}};
  job["settings"]["variants"] = {{{"name", "a"}}};
  const Json accepted = Json::parse(Post(ann_, "/v1/predictions", job).body);
  EXPECT_EQ(accepted["verdict"], "accepted") << accepted;
  EXPECT_THAT(accepted["promises"][0]["evidence"][1].get<std::string>(), HasSubstr("of which 10 judge"));
}

TEST_F(AgreementsRestTest, BadAgreementsAreRefused) {
  EXPECT_THAT(Predict({{"latency_ms", {{"mean", 0}}}}, 400)["detail"].get<std::string>(),
              HasSubstr("/latency_ms/mean"));
  EXPECT_EQ(Predict({{"price", 1}}, 400)["status"], 400);
  Json elsewhere = Asking(Json::object());
  elsewhere["on"] = "nowhere";
  EXPECT_EQ(Post(ann_, "/v1/predictions", elsewhere).status, 404);
  // Consent replaces the settings by which older clients gave data away for ever.
  Json sharing = Asking(Json::object());
  sharing["shares_result"] = true;
  const HttpResponse refused = Post(ann_, "/v1/jobs", sharing);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(Detail(refused), HasSubstr("/shares_result: is not a field of this object"));
  Json mock = MockJob();
  mock["agreement"] = {{"deadline_seconds", 5}};
  EXPECT_EQ(Post(ann_, "/v1/jobs", mock).status, 400);
}

}  // namespace
}  // namespace attune
