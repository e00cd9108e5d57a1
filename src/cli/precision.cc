#include "cli/precision.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace attune {
namespace {

// Names the layers that are in f32 because of their error, worst first; of a long list, it only counts the
// rest.
std::string InF32ByError(const PrecisionReport& report) {
  std::vector<LayerPrecision> layers;
  for (const LayerPrecision& layer : report.layers) {
    if (!layer.is_bf16 && layer.error.has_value()) layers.push_back(layer);
  }
  if (layers.empty()) return "";
  std::ranges::sort(layers, [](const auto& a, const auto& b) {
    return *a.error != *b.error ? *a.error > *b.error : a.name < b.name;
  });
  constexpr size_t kMostNames = 8;
  std::string text = "; in f32 by their error: ";
  for (size_t i = 0; i < std::min(layers.size(), kMostNames); ++i) {
    absl::StrAppendFormat(&text, "%s%s (%.2g %%)", i == 0 ? "" : ", ", layers[i].name,
                          100 * *layers[i].error);
  }
  if (layers.size() > kMostNames) absl::StrAppend(&text, " and ", layers.size() - kMostNames, " more");
  return text;
}

}  // namespace

std::vector<std::string> Describe(const PrecisionReport& report) {
  const auto count = std::ranges::count_if(report.layers, [](const auto& layer) { return layer.is_bf16; });
  std::string layers = absl::StrCat(count, " of ", report.layers.size(), " layers", InF32ByError(report));
  if (!report.not_measured.empty()) absl::StrAppend(&layers, "; not measured: ", report.not_measured);
  std::vector<std::string> lines = {std::move(layers)};
  for (const OutputError& output : report.outputs) {
    lines.push_back(
        absl::StrFormat("output \"%s\" differs by %.2g of its root mean square", output.name, output.error));
  }
  return lines;
}

void AddPrecision(const std::optional<PrecisionReport>& report, Json& json) {
  if (!report.has_value()) return;
  Json layers = Json::array();
  for (const LayerPrecision& layer : report->layers) {
    layers.push_back({{"name", layer.name},
                      {"precision", layer.is_bf16 ? report->precision : "fp32"},
                      {"error", layer.error.has_value() ? Json(*layer.error) : Json()}});
  }
  Json outputs = Json::array();
  for (const OutputError& output : report->outputs)
    outputs.push_back({{"name", output.name}, {"error", output.error}});
  Json& written = json[report->precision] = {{"layers", std::move(layers)}, {"outputs", std::move(outputs)}};
  if (!report->not_measured.empty()) written["not_measured"] = report->not_measured;
}

void PrintNotes(const std::optional<PrecisionReport>& report) {
  if (!report.has_value()) return;
  for (const std::string& line : Describe(*report)) PrintNote(absl::StrCat(report->precision, ": ", line));
}

}  // namespace attune
