#include "kinds/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace attune {
namespace {

using ::testing::HasSubstr;

// Settings that a job of the kind needs at least.
nlohmann::json NeededBy(std::string_view kind) {
  if (kind == "tuning") return {{"model", "m"}, {"records", "r"}};
  if (kind == "quantization") return {{"model", "m"}, {"data", "d"}};
  if (kind == "program") return {{"program", "p"}};
  return {{"stages", {{{"name", "s"}}}}};
}

TEST(JobKindTest, TheTableNamesSettingsThatThereAre) {
  for (const JobKind& kind : AllJobKinds().rows()) {
    JobSpec spec = {.id = "one", .kind = std::string(kind.name), .settings = NeededBy(kind.name)};
    EXPECT_EQ(AllJobKinds().Check(spec), absl::OkStatus());
    const auto expect_known = [&](std::string_view setting) {
      spec.settings = NeededBy(kind.name);
      if (setting == "command") spec.settings.erase("program");
      spec.settings[std::string(setting)] = "x";
      EXPECT_EQ(AllJobKinds().Check(spec), absl::OkStatus()) << setting;
    };
    for (const InputSetting& input : kind.inputs) expect_known(input.name);
    for (const OutputSetting& output : kind.outputs) expect_known(output.name);
    for (const PlacedSetting& setting : kind.local) expect_known(setting.name);
    for (const PlacedSetting& setting : kind.remote) expect_known(setting.name);
  }
}

TEST(JobKindTest, TuningJobsTakeOptionsOfCompiling) {
  JobSpec spec = {.id = "one", .kind = "tuning", .settings = NeededBy("tuning")};
  spec.settings["unchecked_indices"] = true;
  EXPECT_EQ(AllJobKinds().Check(spec), absl::OkStatus());
  spec.settings["unchecked_indices"] = "yes";
  EXPECT_THAT(AllJobKinds().Check(spec).ToString(),
              HasSubstr("unchecked_indices: is neither true nor false"));
  spec.settings = NeededBy("tuning");
  spec.settings["dump"] = "folder";
  EXPECT_THAT(AllJobKinds().Check(spec).ToString(), HasSubstr("dump: is not a setting"));
}

TEST(JobKindTest, SettingsOfTheOtherPlaceAreRefused) {
  JobSpec spec = {.id = "one", .kind = "program", .settings = {{"command", {"ls"}}}};
  EXPECT_TRUE(AllJobKinds().CheckForThisMachine(spec).ok());
  EXPECT_THAT(AllJobKinds().CheckForServer(spec).ToString(),
              HasSubstr("job \"one\": command: is for jobs on this machine"));
  spec.settings = {{"program", "ls"}};
  EXPECT_TRUE(AllJobKinds().CheckForServer(spec).ok());
  EXPECT_THAT(AllJobKinds().CheckForThisMachine(spec).ToString(),
              HasSubstr("job \"one\": program: is the name of a program"));
}

}  // namespace
}  // namespace attune
