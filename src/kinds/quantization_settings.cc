#include "kinds/quantization_settings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/named_shape.h"
#include "base/printable.h"
#include "base/status.h"
#include "quant/agreement.h"
#include "work/job/settings.h"

namespace attune {
namespace {

const std::vector<std::string>& Calibrations() {
  static const std::vector<std::string> names = {"min-max", "percentile", "entropy", "mse"};
  return names;
}

bool IsFileName(const std::string& name) {
  constexpr size_t kMostBytes = 80;  // what Printable() keeps
  return !name.empty() && name.size() <= kMostBytes && !name.starts_with(".") &&
         name.find('/') == std::string::npos && Printable(name) == name;
}

absl::StatusOr<QuantizationVariant> ReadVariant(const nlohmann::json& object) {
  QuantizationVariant variant;
  SettingsReader reader(object, "");
  constexpr double kLeastPercentile = 50, kMostPercentile = 100;
  constexpr int kClusters = 16, kMoreClusters = 32;
  reader.Read("name", variant.name, /*needed=*/true);
  reader.ReadOneOf("calibration", variant.calibration, Calibrations());
  reader.Read("percentile", variant.percentile, kLeastPercentile, kMostPercentile);
  reader.ReadOneOf("precision", variant.precision, {"int8", "auto"});
  reader.Read("clusters", variant.clusters, 0, kMoreClusters);
  reader.Read("equalization", variant.equalization);
  reader.Read("bias_correction", variant.bias_correction);
  if (!IsFileName(variant.name))
    reader.Fail("name", absl::StrCat("\"", Printable(variant.name), "\" cannot be a file's name"));
  if (variant.clusters != 0 && variant.clusters != kClusters && variant.clusters != kMoreClusters)
    reader.Fail("clusters", "is none of 0, 16, 32");
  RETURN_IF_ERROR(reader.Finish());
  return variant;
}

void ReadVariants(SettingsReader& reader, std::vector<QuantizationVariant>& variants) {
  std::set<std::string> names;
  for (const nlohmann::json& object : reader.ReadObjects("variants")) {
    absl::StatusOr<QuantizationVariant> variant = ReadVariant(object);
    if (!variant.ok()) return reader.Fail("variants", variant.status().message());
    if (!names.insert(variant->name).second)
      return reader.Fail("variants", absl::StrCat("two are named \"", variant->name, "\""));
    variants.push_back(*std::move(variant));
  }
  if (!variants.empty()) return;
  for (const std::string& calibration : Calibrations())
    variants.push_back({.name = calibration, .calibration = calibration});
}

void ReadSamples(SettingsReader& reader, SweepSettings& settings) {
  constexpr int64_t kMostSamples = 1'000'000;
  SampleOptions& samples = settings.samples;
  reader.ReadPath("data", samples.folder, /*needed=*/true);
  reader.Read("samples", samples.most, 1, kMostSamples);
  reader.Read("max_drop", samples.max_drop);
  reader.Read("agreement", samples.agreement);
  reader.Read("held_back", settings.held_back, 2, static_cast<int>(kMostSamples));
  reader.Read("judged", settings.judged, 2, static_cast<int>(kMostSamples));
  reader.Read("image_mean", settings.inputs.image_mean);
  reader.Read("image_scale", settings.inputs.image_scale);
  reader.ReadOneOf("image_order", settings.inputs.image_order, {"rgb", "bgr"});
  if (!ParseShare(samples.max_drop).has_value())
    reader.Fail("max_drop",
                absl::StrCat("\"", Printable(samples.max_drop), "\" is not a share like 1% or 0.01"));
  if (!samples.agreement.empty() && !quant::FindCriterion(samples.agreement).has_value())
    reader.Fail("agreement",
                absl::StrCat("\"", Printable(samples.agreement), "\" is no way to compare outputs"));
  for (const auto& [key, text] : {std::pair("image_mean", &settings.inputs.image_mean),
                                  std::pair("image_scale", &settings.inputs.image_scale)}) {
    if (!ParseChannels(*text).has_value()) reader.Fail(key, "is neither a number nor three with commas");
  }
}

void CheckShapes(SettingsReader& reader, const std::vector<std::string>& shapes) {
  std::set<std::string> names;
  for (const std::string& text : shapes) {
    const auto shape = ParseNamedShape(text);
    if (!shape.has_value())
      return reader.Fail("shapes", absl::StrCat("\"", Printable(text), "\" is not like input=1x3x224x224"));
    if (!names.insert(shape->first).second)
      return reader.Fail("shapes", absl::StrCat("input \"", Printable(shape->first), "\" is given twice"));
  }
}

}  // namespace

absl::StatusOr<SweepSettings> ReadSweepSettings(const JobSpec& spec) {
  // These are numbers where people write them, and texts on the command line.
  nlohmann::json given = spec.settings;
  for (const char* key : {"max_drop", "image_mean", "image_scale"}) {
    if (given.is_object() && given.contains(key) && given[key].is_number()) given[key] = given[key].dump();
  }
  constexpr int kMostThreads = 1024;
  SweepSettings settings;
  SettingsReader reader(given, spec.base);
  reader.ReadPath("model", settings.model, /*needed=*/true);
  reader.Read("signature", settings.signature);
  reader.Read("shapes", settings.shapes);
  reader.Read("threads", settings.threads, 1, kMostThreads);
  reader.ReadSeconds("measure_seconds", settings.measure_seconds);
  reader.ReadPath("output", settings.output);
  reader.ReadPath("json", settings.json);
  ReadSamples(reader, settings);
  CheckShapes(reader, settings.shapes);
  ReadVariants(reader, settings.variants);
  RETURN_IF_ERROR(reader.Finish());
  return settings;
}

}  // namespace attune
