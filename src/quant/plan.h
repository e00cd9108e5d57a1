// What a quantized network is to be: the precision of each layer, and the ranges of its values. A plan is
// data, which can be printed, edited and read again.
#ifndef ATTUNE_QUANT_PLAN_H_
#define ATTUNE_QUANT_PLAN_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace attune::quant {

enum class Precision {
  kF32,
  kF16,   // weights and operands are stored so, and computed in f32
  kBF16,  // products of bf16, added up in f32
  kInt8,  // products of u8 activations and i8 weights, added up in i32
};

// "f32", "f16", "bf16", "int8".
std::string_view PrecisionName(Precision precision);
std::optional<Precision> ParsePrecision(std::string_view name);

// The numbers that quantization must be able to say; others saturate.
struct Range {
  double low = 0;
  double high = 0;
  bool operator==(const Range&) const = default;
};

struct LayerPlan {
  std::string layer;  // as GraphNames names it
  Precision precision = Precision::kInt8;
  std::string reason;  // why it is not what was asked for; empty where it is
  bool operator==(const LayerPlan&) const = default;
};

// Seconds of one inference that layers take at each precision, by name; without what was not measured.
using LayerSeconds = std::map<std::string, std::map<Precision, double>, std::less<>>;

struct QuantizationPlan {
  std::vector<LayerPlan> layers;        // in the graph's order; one that is not named is f32
  std::map<std::string, Range> ranges;  // of values, as GraphNames names them
  // How many different integers the weights of an int8 layer may have: 16, 32, or 0 for all.
  int clusters = 0;

  Precision PrecisionOf(std::string_view layer) const;
  bool operator==(const QuantizationPlan&) const = default;
};

// {"layers": [{"layer": …, "precision": "int8", "reason": …}], "ranges": {NAME: [low, high]}, "clusters": 16}
std::string ToJson(const QuantizationPlan& plan);

// Reads what ToJson() writes. Errors say which member is missing or wrong.
absl::StatusOr<QuantizationPlan> ParsePlan(std::string_view json);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_PLAN_H_
