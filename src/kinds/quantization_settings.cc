#include "kinds/quantization_settings.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "kinds/option_settings.h"
#include "work/job/settings.h"

namespace attune {
namespace {

bool IsFileName(const std::string& name) {
  constexpr size_t kMostBytes = 80;  // what Printable() keeps
  return !name.empty() && name.size() <= kMostBytes && !name.starts_with(".") &&
         name.find('/') == std::string::npos && Printable(name) == name;
}

absl::StatusOr<QuantizationVariant> ReadVariant(const nlohmann::json& object) {
  QuantizationVariant variant;
  SettingsReader reader(object, "");
  reader.Read("name", variant.name, /*needed=*/true);
  ReadOptions(reader, OptionsOf(variant), SettingsOf::kVariant);
  if (!IsFileName(variant.name))
    reader.Fail("name", absl::StrCat("\"", Printable(variant.name), "\" cannot be a file's name"));
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
  using enum quant::RangeMethod;
  for (const quant::RangeMethod method : {kMinMax, kPercentile, kEntropy, kMse}) {
    QuantizationVariant& variant = variants.emplace_back();
    variant.name = Name(method);
    variant.calibration = method;
  }
}

}  // namespace

absl::StatusOr<SweepSettings> ReadSweepSettings(const JobSpec& spec) {
  SweepSettings settings;
  SettingsReader reader(spec.settings, spec.base);
  ReadOptions(reader, OptionsOf(settings));
  ReadOptions(reader, OptionsOf(settings.samples));
  ReadOptions(reader, OptionsOf(settings.pictures));
  CheckShapes(reader, settings.shapes);
  ReadVariants(reader, settings.variants);
  RETURN_IF_ERROR(reader.Finish());
  return settings;
}

}  // namespace attune
