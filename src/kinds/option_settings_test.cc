#include "kinds/option_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/json_schema.h"
#include "options/settings.h"
#include "quant/agreement.h"
#include "tune/search/search.h"
#include "work/job/settings.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename Settings>
std::string ErrorOf(const nlohmann::json& given, Settings& to, SettingsOf of = SettingsOf::kJob) {
  SettingsReader reader(given, "/base");
  ReadOptions(reader, OptionsOf(to), of);
  return std::string(reader.Finish().message());
}

TEST(OptionSettings, AreReadByTheTypesOfTheirMembers) {
  TuneSettings tune;
  EXPECT_THAT(ErrorOf({{"trials_per_task", 7},
                       {"time", "5m"},
                       {"seed", 3},
                       {"random_share", 0.5},
                       {"layouts", false},
                       {"strategy", "grid"},
                       {"cache", "cold"},
                       {"records", "mine.db"},
                       {"cost_model", "none"}},
                      tune),
              IsEmpty());
  EXPECT_EQ(tune.trials_per_task, 7);
  EXPECT_EQ(tune.seconds, 300);
  EXPECT_EQ(tune.seed, 3U);
  EXPECT_EQ(tune.random_share, 0.5);
  EXPECT_FALSE(tune.retry_layouts);
  EXPECT_EQ(tune.search, "grid");
  EXPECT_EQ(tune.cache, CacheMode::kCold);
  EXPECT_EQ(tune.records, "/base/mine.db");
  EXPECT_EQ(tune.cost_model, "none");
  CompileSettings compile;
  EXPECT_THAT(ErrorOf({{"unchecked_indices", true}}, compile), IsEmpty());
  EXPECT_TRUE(compile.unchecked_indices);
}

TEST(OptionSettings, NamesWhatIsWrong) {
  TuneSettings tune;
  EXPECT_EQ(ErrorOf({{"trials_per_task", 0}}, tune),
            "trials_per_task: is not a whole number from 1 to 1000000000");
  EXPECT_EQ(ErrorOf({{"execution_seconds", 0}}, tune),
            "execution_seconds: is not a number from 0.01 to 3600");
  EXPECT_EQ(ErrorOf({{"cache", "big"}}, tune), "cache: \"big\" is none of network, warm, cold");
  EXPECT_THAT(ErrorOf({{"strategy", "guess"}}, tune),
              HasSubstr("strategy: \"guess\" is none of annealing, "));
  // A flag alone.
  EXPECT_THAT(ErrorOf({{"device", "desk"}}, tune), HasSubstr("device: is not a setting; there are batch, "));
  SampleSettings samples;
  EXPECT_EQ(ErrorOf({{"samples", 1}}, samples), "data: is missing");
  EXPECT_EQ(ErrorOf({{"data", "d"}, {"max_drop", "much"}}, samples),
            "max_drop: \"much\" is not a share like 1% or 0.01");
  EXPECT_EQ(ErrorOf({{"data", "d"}, {"max_drop", true}}, samples), "max_drop: is not a text");
}

TEST(OptionSettings, SharesAndChannelsAreNumbersOrTexts) {
  SampleSettings samples;
  EXPECT_THAT(ErrorOf({{"data", "d"}, {"max_drop", "2%"}}, samples), IsEmpty());
  EXPECT_EQ(samples.max_drop, 0.02);
  EXPECT_THAT(ErrorOf({{"data", "d"}, {"max_drop", 0.5}}, samples), IsEmpty());
  EXPECT_EQ(samples.max_drop, 0.5);
  PictureSettings pictures;
  EXPECT_THAT(ErrorOf({{"image_mean", 127.5}, {"image_scale", "1,2,3"}}, pictures), IsEmpty());
  EXPECT_EQ(pictures.image_mean, "127.5");
  EXPECT_EQ(pictures.image_scale, "1,2,3");
  EXPECT_THAT(ErrorOf({{"preprocess", "keras"}}, pictures), HasSubstr("\"keras\" is none of none, torch, "));
  EXPECT_EQ(ErrorOf({{"image_std", "1,2"}}, pictures),
            "image_std: is neither a number nor three with commas");
}

TEST(OptionSettings, OfAVariantAreWrittenAsTheyAreRead) {
  QuantizeSettings variant;
  EXPECT_THAT(ErrorOf({{"precision", "auto"}, {"clusters", 16}}, variant, SettingsOf::kVariant), IsEmpty());
  EXPECT_TRUE(variant.is_mixed);
  EXPECT_EQ(ErrorOf({{"clusters", 5}}, variant, SettingsOf::kVariant), "clusters: is none of 0, 16, 32");
  EXPECT_EQ(ErrorOf({{"clusters", 33}}, variant, SettingsOf::kVariant),
            "clusters: is not a whole number from 0 to 32");
  nlohmann::ordered_json written;
  variant.clusters = 16;
  WriteOptions(OptionsOf(variant), SettingsOf::kVariant, written);
  EXPECT_EQ(written.dump(),
            R"({"calibration":"mse","percentile":99.99,"precision":"auto","clusters":16,"equalization":true,)"
            R"("bias_correction":true})");
}

TEST(SettingsSchema, HasEachSettingWithItsTypeAndRange) {
  const JsonSchema tuning = JsonSchema::parse(TuningSchema());
  EXPECT_THAT(tuning["required"], ElementsAre("model"));
  const JsonSchema& trials = tuning["properties"]["trials_per_task"];
  EXPECT_EQ(trials["type"], "integer");
  EXPECT_EQ(trials["minimum"].dump(), "1");
  EXPECT_EQ(trials["maximum"].dump(), "1000000000");
  EXPECT_EQ(trials["description"], "most trials of one task (default: no limit)");
  EXPECT_EQ(tuning["properties"]["unchecked_indices"]["type"], "boolean");
  EXPECT_EQ(tuning["properties"]["strategy"]["enum"][0], "annealing");
  EXPECT_EQ(tuning["properties"]["preprocess"]["enum"][1], "torch");
  EXPECT_FALSE(tuning["properties"].contains("device"));
  const JsonSchema quantization = JsonSchema::parse(QuantizationSchema());
  EXPECT_THAT(quantization["required"], ElementsAre("model", "data"));
  EXPECT_EQ(quantization["properties"]["variants"]["items"]["properties"]["clusters"]["enum"],
            JsonSchema({0, 16, 32}));
}

TEST(SettingsSchema, HoldsForWhatTheReaderTakes) {
  const nlohmann::json given = {
      {"model", "m.onnx"}, {"trials", 5}, {"time", "5m"}, {"unchecked_indices", true}};
  EXPECT_TRUE(CheckJson(given, JsonSchema::parse(TuningSchema()), JsonSchema::object()).ok());
  EXPECT_FALSE(
      CheckJson({{"model", "m.onnx"}, {"trials", 0}}, JsonSchema::parse(TuningSchema()), JsonSchema::object())
          .ok());
}

std::vector<std::string_view> ChoicesOf(const BoundOptions& options, std::string_view name) {
  std::vector<std::string_view> names;
  for (const BoundOption& option : options) {
    if (option.row->name != name) continue;
    for (const OptionChoice& choice : option.row->choices) names.push_back(choice.name);
  }
  return names;
}

TEST(OptionChoices, AreThoseOfTheTablesThatTheyName) {
  TuneSettings tune;
  std::vector<std::string_view> strategies;
  for (const SearchStrategyInfo& info : AllSearchStrategies()) strategies.push_back(info.name);
  EXPECT_EQ(ChoicesOf(OptionsOf(tune), "strategy"), strategies);
  SampleSettings samples;
  for (const std::string_view name : ChoicesOf(OptionsOf(samples), "agreement"))
    EXPECT_TRUE(quant::FindCriterion(name).has_value()) << name;
}

TEST(ChangeArtifact, KnowsTheOptionsOfCompilingAndOfPictures) {
  EXPECT_TRUE(ChangeArtifact({{"unchecked_indices", true}}));
  EXPECT_TRUE(ChangeArtifact({{"preprocess", "torch"}}));
  EXPECT_FALSE(ChangeArtifact({{"trials", 5}, {"records", "r.db"}}));
}

}  // namespace
}  // namespace attune
