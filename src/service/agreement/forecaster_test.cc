#include "service/agreement/forecaster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "compile/compile.h"
#include "device/codec.h"
#include "service/agreement/observations_for_test.h"
#include "service/models/model_store.h"
#include "service/queue/live_schedule_for_test.h"
#include "target/target.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// Imports the model of the test as soon as its import is waited for.
class ImportingClock final : public Clock {
 public:
  double Now() const override {
    import();
    return 0;
  }
  int64_t WallMillis() const override { return 0; }

  std::function<void()> import = [] {};
};

class ForecasterTest : public LiveScheduleTest {
 protected:
  ForecasterTest() {
    EXPECT_TRUE(uploads_->Append("ann", Sha256Hex("net"), 0, "net").ok());
    EXPECT_TRUE(uploads_->Finish("ann", Sha256Hex("net")).ok());
    ModelFacts facts;
    facts.network = "network 1";
    facts.interface = "input x f32[1]\n";
    facts.weight_bytes = 1e6;
    facts.tasks = {{.digest = "task",
                    .description = "conv 1x8",
                    .anchor = "conv",
                    .uses = 1,
                    .sure_uses = 1,
                    .work = {.flops = 1e9, .bytes_read = 1e6, .bytes_written = 1e6}}};
    clock_.import = [this, text = ToJson(facts).dump()] {
      EXPECT_TRUE(
          model_store_
              ->SetVerdict("ann", IdOfModel(*job_.model), {.state = ModelState::kReady, .facts = text})
              .ok());
    };
    devices_.Add("desk/cpu", "desk",
                 EncodeDevice({.fingerprint = "board",
                               .target = *TargetByName("x86-64-v3"),
                               .usable = {0},
                               .processors = {{.number = 0}}}));
  }

  AskedJob job_ = {.tenant = "ann",
                   .kind = "tuning",
                   .on = "desk",
                   .model = ModelSource{.files = {{"net.onnx", Sha256Hex("net")}}}};
  const std::unique_ptr<ModelStore> model_store_ = *ModelStore::Open(SqlLocation(folder_ / "models"));
  const std::unique_ptr<BlobStore> uploads_ = *BlobStore::Open(folder_ / "uploads", {});
  Models models_{*model_store_, *uploads_, {.folder = folder_ / "imports"}};
  ImportingClock clock_;
  ImportedFacts facts_{models_, clock_};
  JobReader reader_{queue_, *files_, folder_ / "sharing"};
  const std::unique_ptr<AgreementStore> agreement_store_ =
      *AgreementStore::Open(SqlLocation(folder_ / "agreements"));
  KnownAnswers known_{*agreement_store_};
  QuantizationModel quantizations_;
  Forecaster forecaster_{facts_, reader_, devices_, known_, quantizations_};
};

TEST_F(ForecasterTest, WithoutAMachineNothingIsPromised) {
  job_.agreement.mean_ms = 5;
  const auto forecast = forecaster_.Forecast(job_);
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_EQ(forecast->verdict, Verdict::kRefused);
  EXPECT_THAT(forecast->reason, HasSubstr("before there is a machine that runs jobs of ann"));
  ASSERT_EQ(forecast->promises.size(), 1);
  EXPECT_EQ(forecast->promises[0].probability, 0);
  EXPECT_EQ(forecast->network, "network 1");
  EXPECT_EQ(forecaster_.RecordsFor(*forecast), "");
}

TEST_F(ForecasterTest, WhatIsKnownNeedsNoMachine) {
  Observation known = MadeUpObservation(1);
  known.compiler = std::string(kCompilerVersion);
  ASSERT_TRUE(known_.Add(known).ok());
  job_.agreement.mean_ms = known.mean_ms.high;
  const auto forecast = forecaster_.Forecast(job_);
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_EQ(forecast->verdict, Verdict::kKnown);
  EXPECT_EQ(forecast->known->job, known.job);
}

TEST_F(ForecasterTest, PromisesAreForSomeKinds) {
  job_.kind = "program";
  EXPECT_THAT(forecaster_.Forecast(job_).status().message(),
              HasSubstr("promises are made for tuning and quantization, and not for program"));
  job_.kind = "tuning";
  job_.model.reset();
  EXPECT_THAT(forecaster_.Forecast(job_).status().message(), HasSubstr("has no model among its inputs"));
  job_.on = "attic";
  EXPECT_TRUE(absl::IsNotFound(forecaster_.Forecast(job_).status()));
}

}  // namespace
}  // namespace attune
