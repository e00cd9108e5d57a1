#include "quant/plan.h"

#include "nlohmann/json.hpp"

namespace attune::quant {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNames[] = {"f32", "f16", "bf16", "int8"};

}  // namespace

std::string_view PrecisionName(Precision precision) { return kNames[static_cast<size_t>(precision)]; }

Precision QuantizationPlan::PrecisionOf(std::string_view layer) const {
  for (const LayerPlan& plan : layers) {
    if (plan.layer == layer) return plan.precision;
  }
  return Precision::kF32;
}

std::string ToJson(const QuantizationPlan& plan) {
  Json layers = Json::array();
  for (const LayerPlan& layer : plan.layers) {
    Json json = {{"layer", layer.layer}, {"precision", std::string(PrecisionName(layer.precision))}};
    if (!layer.reason.empty()) json["reason"] = layer.reason;
    layers.push_back(std::move(json));
  }
  Json ranges = Json::object();
  for (const auto& [name, range] : plan.ranges) ranges[name] = Json::array({range.low, range.high});
  Json json = Json::object();
  json["layers"] = std::move(layers);
  json["ranges"] = std::move(ranges);
  if (plan.clusters != 0) json["clusters"] = plan.clusters;
  // Names come from files and may be invalid UTF-8.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attune::quant
