#include "options/option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "base/face.h"
#include "options/settings.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

BoundOption Named(const BoundOptions& options, std::string_view name) {
  const auto found =
      std::ranges::find(options, name, [](const BoundOption& option) { return option.row->name; });
  EXPECT_NE(found, options.end()) << name;
  return *found;
}

TEST(Options, AreBoundToTheirMembers) {
  CompileSettings settings;
  const BoundOptions options = OptionsOf(settings);
  *std::get<bool*>(Named(options, "unchecked_indices").field) = true;
  EXPECT_TRUE(settings.unchecked_indices);
  std::get<ChoiceField>(Named(options, "weights").field).set(static_cast<int>(DType::kBF16));
  EXPECT_EQ(settings.weights, DType::kBF16);
  settings.precision = Precision::kAuto;
  EXPECT_EQ(ValueOf(Named(options, "precision")), "auto");
  EXPECT_EQ(ValueOf(Named(options, "passes")), nullptr);
}

TEST(Options, ChoicesReadBack) {
  CompileSettings settings;
  const OptionRow& precision = *Named(OptionsOf(settings), "precision").row;
  for (const OptionChoice& choice : precision.choices) {
    EXPECT_EQ(ChoiceNamed(precision.choices, choice.name), choice.value);
    EXPECT_EQ(Name(static_cast<Precision>(choice.value)), choice.name);
  }
  EXPECT_EQ(ChoiceNamed(precision.choices, "fp64"), std::nullopt);
  EXPECT_EQ(Name(quant::RangeMethod::kMinMax), "min-max");
}

TEST(Options, BoolsMayHaveNames) {
  QuantizeSettings settings;
  const BoundOption precision = Named(OptionsOf(settings), "precision");
  EXPECT_EQ(ValueOf(precision), "int8");
  std::get<ChoiceField>(precision.field).set(*ChoiceNamed(precision.row->choices, "auto"));
  EXPECT_TRUE(settings.is_mixed);
}

TEST(Options, ThoseThatDifferFromTheDefaultsAreFound) {
  CompileSettings settings;
  EXPECT_THAT(ChangedOptions(settings), IsEmpty());
  settings.threads = 2;
  settings.compact = true;
  settings.passes = "";
  std::vector<std::string_view> names;
  for (const OptionRow* row : ChangedOptions(settings)) names.push_back(row->name);
  EXPECT_THAT(names, ElementsAre("passes", "threads", "compact"));
}

std::string RangeErrorOf(const TuneSettings& settings) {
  return std::string(CheckRanges(settings).message());
}

TEST(Options, NumbersHaveTheirRanges) {
  EXPECT_TRUE(CheckRanges(TuneSettings()).ok());
  TuneSettings settings;
  settings.trials = 1;
  EXPECT_TRUE(CheckRanges(settings).ok());
  settings.trials = -1;
  EXPECT_EQ(RangeErrorOf(settings), "--trials: is -1, and must be from 1 to 1000000000, or 0");
  settings = {.batch = 0};
  EXPECT_EQ(RangeErrorOf(settings), "--batch: is 0, and must be from 1 to 4096");
  for (const double seconds : {-1.0, std::nan(""), HUGE_VAL})
    EXPECT_THAT(RangeErrorOf({.seconds = seconds}), EndsWith("and must be at least 0"));
  EXPECT_EQ(CheckRanges(QuantizeSettings{.clusters = 5}).message(),
            "--clusters: is 5, and must be 16 or 32, or 0");
}

TEST(Options, ErrorsNameTheOptionAsItWasGiven) {
  const TuneSettings settings = {.seconds = -60};
  EXPECT_EQ(RangeErrorOf(settings), "--time: is -60, and must be at least 0");
  SetFace(Face::kCpp);
  EXPECT_EQ(RangeErrorOf(settings), "seconds: is -60, and must be at least 0");
  SetFace(Face::kPython);
  EXPECT_EQ(RangeErrorOf(settings), "minutes: is -1, and must be at least 0");
  SetFace(Face::kCommandLine);
}

template <typename Settings>
void ExpectGoodRows() {
  Settings settings;
  std::set<std::string_view> names, flags;
  for (const auto& [row, field] : OptionsOf(settings)) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    EXPECT_FALSE(row->help.empty()) << row->name;
    EXPECT_LE(row->least, row->most) << row->name;
    if (row->flag.empty()) continue;
    EXPECT_TRUE(row->flag.starts_with("--") && flags.insert(row->flag).second) << row->name;
    // A flag without a value turns its option into the other value.
    if (const auto* value = std::get_if<bool*>(&field))
      EXPECT_EQ(row->flag.starts_with("--no-"), **value) << row->name;
  }
}

TEST(Options, RowsAreConsistent) {
  ExpectGoodRows<CompileSettings>();
  ExpectGoodRows<TuneSettings>();
  ExpectGoodRows<SampleSettings>();
  ExpectGoodRows<QuantizeSettings>();
  ExpectGoodRows<TuningJobSettings>();
  ExpectGoodRows<PictureSettings>();
  ExpectGoodRows<QuantizationJobSettings>();
}

}  // namespace
}  // namespace attune
