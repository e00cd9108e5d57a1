#include "quant/report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "quant/layers.h"

namespace attune::quant {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kScaleBytes = sizeof(float);
constexpr Precision kPrecisions[] = {Precision::kInt8, Precision::kBF16, Precision::kF16, Precision::kF32};

int64_t BytesOf(const Node& layer, Precision precision) {
  const int64_t elements = layer.input(1)->type().num_elements();
  switch (precision) {
    case Precision::kF32:
      return elements * static_cast<int64_t>(sizeof(float));
    case Precision::kF16:
    case Precision::kBF16:
      return elements * 2;
    case Precision::kInt8:
      return elements + NumChannels(layer) * kScaleBytes;
  }
  return 0;
}

// Two measurements of one network may differ by this factor.
constexpr double kSameSpeed = 1.02;

Json SecondsOrNull(double seconds) { return seconds > 0 ? Json(seconds) : Json(); }

Json NumberOrNull(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? Json(*number) : Json();
}

std::string Cell(const std::optional<double>& number) {
  if (!number) return "";
  return std::isfinite(*number) ? absl::StrFormat("%.3g", *number) : "exact";
}

// "0.0123 / 0.0456": milliseconds at the layer's precision, and in f32. Empty if these were not measured.
std::string Times(const LayerReport& layer) {
  const auto now = layer.seconds.find(layer.precision), before = layer.seconds.find(Precision::kF32);
  if (now == layer.seconds.end() || before == layer.seconds.end()) return "";
  constexpr double kMilli = 1e3;
  return absl::StrFormat("%.3g / %.3g", now->second * kMilli, before->second * kMilli);
}

// "93.1 % in int8, 6.9 % in f32".
std::string Shares(const QuantizationReport& report) {
  std::string text;
  constexpr double kPercent = 100;
  for (const Precision precision : kPrecisions) {
    const double share = report.ShareAt(precision);
    if (share == 0) continue;
    absl::StrAppendFormat(&text, "%s%.1f %% in %s", text.empty() ? "" : ", ", kPercent * share,
                          PrecisionName(precision));
  }
  return text;
}

}  // namespace

int64_t QuantizationReport::float_bytes() const {
  int64_t sum = 0;
  for (const LayerReport& layer : layers) sum += layer.float_bytes;
  return sum;
}

int64_t QuantizationReport::bytes() const {
  int64_t sum = 0;
  for (const LayerReport& layer : layers) sum += layer.bytes;
  return sum;
}

double QuantizationReport::ShareAt(Precision precision) const {
  int64_t sum = 0, here = 0;
  for (const LayerReport& layer : layers) {
    sum += layer.multiply_adds;
    if (layer.precision == precision) here += layer.multiply_adds;
  }
  return sum == 0 ? 0 : static_cast<double>(here) / static_cast<double>(sum);
}

bool QuantizationReport::is_slower() const {
  return float_seconds > 0 && seconds > kSameSpeed * float_seconds;
}

std::vector<LayerReport> ReportLayers(const Graph& graph, const QuantizationPlan& plan,
                                      const std::map<std::string, LayerError>& errors,
                                      const std::vector<ClusteredLayer>& clustered,
                                      const LayerSeconds& seconds) {
  const GraphNames names(graph);
  std::vector<LayerReport> reports;
  for (const Node* layer : LayersOf(graph)) {
    LayerReport report;
    report.layer = names.Of(layer);
    report.op = OpName(layer->op());
    for (const LayerPlan& entry : plan.layers) {
      if (entry.layer != report.layer) continue;
      report.precision = entry.precision;
      report.reason = entry.reason;
    }
    if (const auto error = errors.find(report.layer); error != errors.end()) {
      report.sqnr_db = error->second.SqnrDb();
      report.max_absolute_error = error->second.max_absolute;
    }
    report.multiply_adds = MultiplyAdds(*layer);
    if (const auto found = seconds.find(report.layer); found != seconds.end()) report.seconds = found->second;
    report.float_bytes = BytesOf(*layer, Precision::kF32);
    report.bytes = BytesOf(*layer, report.precision);
    for (const ClusteredLayer& weights : clustered) {
      if (weights.layer != report.layer) continue;
      // Integers also need scales.
      const int64_t scales = report.precision == Precision::kInt8 ? NumChannels(*layer) * kScaleBytes : 0;
      report.bytes = std::min(report.bytes, weights.weights.num_bytes() + scales);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

Json ToJson(const QuantizationReport& report) {
  Json layers = Json::array();
  for (const LayerReport& layer : report.layers) {
    Json json = {{"layer", layer.layer},
                 {"op", layer.op},
                 {"precision", std::string(PrecisionName(layer.precision))},
                 {"sqnr_db", NumberOrNull(layer.sqnr_db)},
                 {"max_absolute_error", NumberOrNull(layer.max_absolute_error)},
                 {"multiply_adds", layer.multiply_adds},
                 {"float_bytes", layer.float_bytes},
                 {"bytes", layer.bytes}};
    for (const auto& [precision, seconds] : layer.seconds)
      json["seconds"][PrecisionName(precision)] = seconds;
    if (!layer.reason.empty()) json["reason"] = layer.reason;
    layers.push_back(std::move(json));
  }
  Json shares;
  for (const Precision precision : kPrecisions) shares[PrecisionName(precision)] = report.ShareAt(precision);
  return {{"agreement", report.agreement.agreement},
          {"cosine", report.agreement.cosine},
          {"calibration_samples", report.calibration_samples},
          {"held_back_samples", report.held_back_samples},
          {"equalized_pairs", report.equalized_pairs},
          {"corrected_biases", report.corrected_biases},
          {"float_seconds", SecondsOrNull(report.float_seconds)},
          {"seconds", SecondsOrNull(report.seconds)},
          {"missing_instructions", report.missing_instructions},
          {"verdict", Verdict(report)},
          {"float_bytes", report.float_bytes()},
          {"bytes", report.bytes()},
          {"shares_of_multiply_adds", std::move(shares)},
          {"layers", std::move(layers)}};
}

std::string Verdict(const QuantizationReport& report) {
  if (report.seconds <= 0 || report.float_seconds <= 0) return "";
  constexpr double kMillis = 1e3;
  const double speedup = report.float_seconds / report.seconds;
  std::string text = absl::StrFormat("quantized, one inference takes %.3f ms instead of %.3f in fp32",
                                     kMillis * report.seconds, kMillis * report.float_seconds);
  if (report.is_slower()) {
    absl::StrAppend(&text, ": int8 is slower than fp32 on this processor",
                    report.missing_instructions.empty() ? "" : ", which has no ",
                    report.missing_instructions);
  } else {
    absl::StrAppend(
        &text, speedup > kSameSpeed ? absl::StrFormat(", %.2f times as fast", speedup) : ", about as long");
  }
  return absl::StrCat(text, absl::StrFormat("; agreement with fp32 %.4f", report.agreement.agreement));
}

std::vector<std::string> Summarize(const QuantizationReport& report) {
  const auto quantized = std::ranges::count_if(
      report.layers, [](const LayerReport& layer) { return layer.precision != Precision::kF32; });
  constexpr double kMegabyte = 1e6;
  std::vector<std::string> lines = {
      absl::StrFormat("%d of %d layers quantized, weights %.1f MB instead of %.1f", quantized,
                      report.layers.size(), static_cast<double>(report.bytes()) / kMegabyte,
                      static_cast<double>(report.float_bytes()) / kMegabyte),
      absl::StrFormat("multiply-adds: %s", Shares(report)),
      absl::StrFormat("agreement with f32 %.4f, cosine %.6f, on %d samples of their own",
                      report.agreement.agreement, report.agreement.cosine, report.held_back_samples)};
  if (std::string verdict = Verdict(report); !verdict.empty()) lines.push_back(std::move(verdict));
  return lines;
}

std::string ToText(const QuantizationReport& report) {
  int width = 5;
  const auto name = [](const LayerReport& layer) { return WithoutControls(layer.layer); };
  for (const LayerReport& layer : report.layers)
    width = std::max(width, static_cast<int>(name(layer).size()));
  std::string text = absl::StrFormat("%-*s  %-9s  %8s  %10s  %16s  %10s\n", width, "layer", "precision",
                                     "SQNR dB", "max error", "ms / in f32", "KB");
  for (const LayerReport& layer : report.layers) {
    constexpr double kKilobyte = 1e3;
    absl::StrAppendFormat(&text, "%-*s  %-9s  %8s  %10s  %16s  %10.1f%s%s\n", width, name(layer),
                          PrecisionName(layer.precision), Cell(layer.sqnr_db), Cell(layer.max_absolute_error),
                          Times(layer), static_cast<double>(layer.bytes) / kKilobyte,
                          layer.reason.empty() ? "" : "  ", layer.reason);
  }
  return text + "\n" + absl::StrJoin(Summarize(report), "\n") + "\n";
}

}  // namespace attune::quant
