// Whole sweeps over a small classifier.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "device/device.h"
#include "device/host.h"
#include "export/onnx/export.h"
#include "io/npy.h"
#include "kinds/kind_functions.h"
#include "quant/testing.h"

namespace attune {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMostBytes = 1 << 20;

class QuantizationSweepTest : public ::testing::Test {
 protected:
  QuantizationSweepTest() {
    const std::unique_ptr<Graph> graph = quant::SmallClassifier();
    EXPECT_TRUE(ExportOnnx(*graph, folder_ / "model.onnx").ok());
    for (const char* name : {"data", "job"}) std::filesystem::create_directory(folder_ / name);
    int i = 0;
    for (const quant::Sample& sample : quant::RandomSamples(*graph, 8))
      EXPECT_TRUE(WriteNpy(folder_ / absl::StrCat("data/", ++i, ".npy"), sample[0]).ok());
    spec_.settings = {{"model", "model.onnx"},
                      {"data", "data"},
                      {"measure_seconds", 0.05},
                      {"max_drop", 0.5},
                      {"json", "result.json"},
                      {"variants", {{{"name", "a"}, {"calibration", "min-max"}}, {{"name", "b"}}}}};
  }

  absl::StatusOr<std::unique_ptr<Job>> Open() { return OpenQuantizationSweep(spec_, place_); }
  std::string ErrorOfOpening() { return std::string(Open().status().message()); }
  std::string Wrong(const std::string& key, const json& value) {
    JobSpec spec = spec_;
    spec.settings[key] = value;
    return std::string(CheckQuantizationSweep(spec).message());
  }
  // Runs up to `most` stages, and returns their names.
  static std::vector<std::string> RunStages(Job& job, int most = 100) {
    std::vector<std::string> names;
    while (std::ssize(names) < most) {
      const std::optional<JobStage> stage = job.Next();
      if (!stage.has_value()) break;
      names.push_back(stage->name);
      const absl::Status status = job.Run({.processors = {HostDevice()->usable.front()}});
      EXPECT_TRUE(status.ok()) << stage->name << ": " << status;
      if (!status.ok()) break;
    }
    return names;
  }

  const testing::TemporaryFolder folder_;
  JobSpec spec_{.id = "sweep", .kind = "quantization", .base = folder_.path()};
  JobPlace place_{.id = "sweep", .folder = folder_ / "job", .processors = 2, .devices = {"device/this"}};
};

TEST_F(QuantizationSweepTest, MeasuresAndJudgesEachVariant) {
  const auto job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ((*job)->id(), "sweep");
  EXPECT_EQ((*job)->Progress(), "0 of 2 variants");
  EXPECT_EQ((*job)->RemainingSeconds(), 0);
  EXPECT_THAT(RunStages(**job), ElementsAre("prepare", "calibrate", "build", "measure", "judge", "calibrate",
                                            "build", "measure", "judge"));
  EXPECT_GT((*job)->SpentSeconds(), 0);
  EXPECT_THAT((*job)->Progress(), HasSubstr("2 of 2 variants, best "));
  const json result = json::parse((*job)->Result());
  EXPECT_EQ(result, json::parse(*ReadFile(folder_ / "result.json", kMostBytes)));
  EXPECT_GT(result["baseline_ms"], 0);
  ASSERT_EQ(result["variants"].size(), 2u);
  for (const json& row : result["variants"]) {
    EXPECT_FALSE(row.contains("error")) << row;
    EXPECT_GT(row["ms"], 0);
    EXPECT_NEAR(row["speedup"], result["baseline_ms"].get<double>() / row["ms"].get<double>(), 1e-6);
    EXPECT_NEAR(row["drop"], 1 - row["agreement"].get<double>(), 1e-9);
    EXPECT_GT(row["cosine"], 0.99);
    EXPECT_EQ(row["held_back_samples"], 2);
    EXPECT_EQ(row["bytes"], std::filesystem::file_size(row["output"].get<std::string>()));
    EXPECT_EQ(row["network"].get<std::string>().size(), 64u);
    EXPECT_GT(row["weight_bytes"], 0);
  }
  EXPECT_EQ(result["device"], DeviceFingerprint());
  EXPECT_EQ(result["threads"], 1);
  EXPECT_EQ(result["variants"][0]["calibration"], "min-max");
  EXPECT_EQ(result["variants"][1]["calibration"], "mse");
}

TEST_F(QuantizationSweepTest, SamplesThatJudgeAreSeenByNothingElse) {
  spec_.settings["judged"] = 4;
  spec_.settings["variants"].erase(1);
  const auto job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  RunStages(**job);
  const json row = json::parse((*job)->Result())["variants"][0];
  EXPECT_FALSE(row.contains("error")) << row;
  EXPECT_EQ(row["judged_samples"], 2);
  EXPECT_EQ(row["held_back_samples"], 1);  // of the six others
  EXPECT_LE(row["judged_loss"], 1);
  EXPECT_THAT(Wrong("judged", 1), HasSubstr("judged: "));
}

TEST_F(QuantizationSweepTest, StagesSayWhatTheyNeed) {
  const auto job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  RunStages(**job, 3);
  const std::optional<JobStage> measure = (*job)->Next();
  ASSERT_TRUE(measure.has_value());
  EXPECT_EQ(measure->name, "measure");
  EXPECT_THAT(measure->needs,
              ElementsAre(ResourceNeed{.key = "device/this", .amount = 1, .exclusive = true}));
  EXPECT_EQ(measure->seconds.median, 0);
  EXPECT_GT(measure->memory_bytes, 0);
  RunStages(**job, 2);
  const std::optional<JobStage> calibrate = (*job)->Next();
  ASSERT_TRUE(calibrate.has_value());
  EXPECT_EQ(calibrate->name, "calibrate");
  EXPECT_THAT(calibrate->needs, ElementsAre(ResourceNeed{.key = kProcessorsKey, .amount = 2}));
  EXPECT_GT(calibrate->seconds.median, 0);
  EXPECT_GT((*job)->RemainingSeconds(), calibrate->seconds.median);
}

TEST_F(QuantizationSweepTest, GoesOnWithTheVariantThatWasNotFinished) {
  {
    const auto job = Open();
    ASSERT_TRUE(job.ok()) << job.status();
    RunStages(**job, 7);
  }
  const json first = json::parse(*ReadFile(folder_ / "job/quantization.json", kMostBytes));
  ASSERT_EQ(first["rows"].size(), 1u);
  {
    const auto job = Open();
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_THAT((*job)->Progress(), HasSubstr("1 of 2 variants"));
    EXPECT_GT((*job)->RemainingSeconds(), 0);
    EXPECT_THAT(RunStages(**job), ElementsAre("prepare", "calibrate", "build", "measure", "judge"));
    const json result = json::parse((*job)->Result());
    EXPECT_EQ(result["variants"][0], first["rows"][0]);
    EXPECT_EQ(result["variants"][1]["baseline_ms"], result["baseline_ms"]);
  }
  // Only the result was not written.
  std::filesystem::remove(folder_ / "result.json");
  const auto job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_FALSE((*job)->Next().has_value());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "result.json"));
}

TEST_F(QuantizationSweepTest, ADamagedTableIsNamed) {
  for (const char* text : {"{", "[]", R"({"settings": "", "rows": [{"name": 1}]})"}) {
    std::ofstream(folder_ / "job/quantization.json") << text;
    EXPECT_THAT(ErrorOfOpening(), HasSubstr("quantization.json: is not a table"));
  }
  std::ofstream(folder_ / "job/quantization.json") << R"({"settings": "", "rows": []})";
  EXPECT_THAT(ErrorOfOpening(), HasSubstr("quantization.json: holds results of other settings"));
}

TEST_F(QuantizationSweepTest, AVariantThatFailsIsARow) {
  // There is nothing to quantize.
  quant::TestNetwork network;
  network.Output(network.Relu(network.Input({1, 3, 8, 8})));
  ASSERT_TRUE(ExportOnnx(network.graph(), folder_ / "model.onnx").ok());
  const auto job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(RunStages(**job), ElementsAre("prepare", "calibrate", "calibrate"));
  EXPECT_EQ((*job)->Progress(), "2 of 2 variants");
  const json result = json::parse((*job)->Result());
  EXPECT_TRUE(result["best"].is_null());
  EXPECT_THAT(result["variants"][0]["error"].get<std::string>(), HasSubstr("no convolution"));
}

TEST_F(QuantizationSweepTest, AModelThatFailsEndsTheJob) {
  std::filesystem::remove(folder_ / "model.onnx");
  const auto job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(std::string((*job)->Run({}).message()), HasSubstr("model.onnx"));
}

TEST_F(QuantizationSweepTest, IsCancelledWhileAStageRuns) {
  spec_.settings["measure_seconds"] = 600;
  for (const int stages : {1, 3}) {  // before it calibrates, and before it measures
    // A stage may be over before a busy machine lets the other thread cancel it.
    absl::Status status;
    while (status.ok()) {
      const auto job = Open();
      ASSERT_TRUE(job.ok()) << job.status();
      RunStages(**job, stages);
      const std::string next = (*job)->Next()->name;
      std::thread canceller([&] {
        while ((*job)->Next()->name == next) std::this_thread::yield();
        (*job)->Cancel();
      });
      status = (*job)->Run({});
      canceller.join();
      EXPECT_EQ((*job)->Next()->name == next, !status.ok());
      EXPECT_TRUE(absl::IsCancelled((*job)->Run({})));
      EXPECT_FALSE(std::filesystem::exists(folder_ / "job/quantization.json"));
    }
    EXPECT_TRUE(absl::IsCancelled(status)) << stages << ": " << status;
  }
}

TEST_F(QuantizationSweepTest, WrongSettingsAreNamed) {
  EXPECT_EQ(CheckQuantizationSweep(spec_), absl::OkStatus());
  EXPECT_THAT(Wrong("model", nullptr), HasSubstr("model: is missing"));
  EXPECT_THAT(Wrong("data", nullptr), HasSubstr("data: is missing"));
  EXPECT_THAT(Wrong("shapes", {"x0"}), HasSubstr("shapes: \"x0\" is not like"));
  EXPECT_THAT(Wrong("shapes", {"x0=1", "x0=2"}), HasSubstr("given twice"));
  EXPECT_THAT(Wrong("max_drop", "much"), HasSubstr("max_drop: "));
  EXPECT_THAT(Wrong("max_drop", 2), HasSubstr("max_drop: "));
  EXPECT_EQ(Wrong("max_drop", "2%"), "");
  EXPECT_THAT(Wrong("agreement", "much"), HasSubstr("agreement: "));
  EXPECT_THAT(Wrong("image_mean", "1,2"), HasSubstr("image_mean: "));
  EXPECT_EQ(Wrong("image_mean", 127.5), "");
  EXPECT_THAT(Wrong("held_back", 1), HasSubstr("held_back: "));
  EXPECT_THAT(Wrong("percentile", 99), HasSubstr("percentile: is not a setting"));
  const auto variant = [&](const json& object) { return Wrong("variants", json::array({object})); };
  EXPECT_THAT(variant({{"calibration", "mse"}}), HasSubstr("variants: name: is missing"));
  EXPECT_THAT(variant({{"name", "a/b"}}), HasSubstr("cannot be a file's name"));
  EXPECT_THAT(variant({{"name", "a\nb"}}), HasSubstr("cannot be a file's name"));
  EXPECT_THAT(variant({{"name", ".."}}), HasSubstr("cannot be a file's name"));
  EXPECT_THAT(variant({{"name", "a"}, {"calibration", "best"}}), HasSubstr("calibration: "));
  EXPECT_THAT(variant({{"name", "a"}, {"clusters", 17}}), HasSubstr("clusters: is none of 0, 16, 32"));
  EXPECT_THAT(variant({{"name", "a"}, {"percentile", 10}}), HasSubstr("percentile: "));
  EXPECT_THAT(variant({{"name", "a"}, {"color", "red"}}), HasSubstr("color: is not a setting"));
  EXPECT_THAT(Wrong("variants", {{{"name", "a"}}, {{"name", "a"}}}), HasSubstr("two are named \"a\""));
}

TEST_F(QuantizationSweepTest, NeedsADevice) {
  place_.devices.clear();
  EXPECT_THAT(ErrorOfOpening(), HasSubstr("needs a device"));
}

TEST_F(QuantizationSweepTest, WithoutVariantsEachCalibrationIsTried) {
  spec_.settings.erase("variants");
  spec_.settings["output"] = "models";
  const auto job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  RunStages(**job);
  for (const char* name : {"min-max", "percentile", "entropy", "mse"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / absl::StrCat("models/", name, ".onnx"))) << name;
}

}  // namespace
}  // namespace attune
