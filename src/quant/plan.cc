#include "quant/plan.h"

#include "nlohmann/json.hpp"

namespace attune::quant {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNames[] = {"f32", "f16", "bf16", "int8"};

// The string member `name` of `json`; empty if it is absent and not required.
absl::StatusOr<std::string> StringMember(const Json& json, const char* name, bool is_required) {
  const auto member = json.find(name);
  if (member == json.end() && !is_required) return std::string();
  if (member == json.end() || !member->is_string()) {
    return InvalidInput("the plan has a layer without a text \"", name, "\"");
  }
  return member->get<std::string>();
}

absl::StatusOr<LayerPlan> ParseLayer(const Json& json) {
  if (!json.is_object()) return InvalidInput("a layer of the plan is not an object");
  LayerPlan layer;
  ASSIGN_OR_RETURN(layer.layer, StringMember(json, "layer", true));
  ASSIGN_OR_RETURN(layer.reason, StringMember(json, "reason", false));
  ASSIGN_OR_RETURN(const std::string name, StringMember(json, "precision", true));
  const std::optional<Precision> precision = ParsePrecision(name);
  if (!precision) {
    return InvalidInput("layer \"", layer.layer, "\" has the precision \"", name,
                        "\"; known are f32, f16, bf16 and int8");
  }
  layer.precision = *precision;
  return layer;
}

absl::StatusOr<Range> ParseRange(const std::string& name, const Json& json) {
  const bool is_pair = json.is_array() && json.size() == 2 && json[0].is_number() && json[1].is_number();
  if (!is_pair) return InvalidInput("the range of \"", name, "\" is not [low, high]");
  const Range range{json[0].get<double>(), json[1].get<double>()};
  if (std::isfinite(range.low) && std::isfinite(range.high) && range.low <= range.high) return range;
  return InvalidInput("the range of \"", name, "\" has a low that is not below its high");
}

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
