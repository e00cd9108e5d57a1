// Describes a quantized network: the precision of each layer, and the ranges of its values. A plan is data,
// which can be printed.
#ifndef ATTUNE_QUANT_PLAN_H_
#define ATTUNE_QUANT_PLAN_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attune::quant {

enum class Precision {
  kF32,
  kF16,   // weights and operands are stored in f16; computed in f32
  kBF16,  // products of bf16, accumulated in f32
  kInt8,  // products of u8 activations and i8 weights, accumulated in i32
};

// "f32", "f16", "bf16", "int8".
std::string_view PrecisionName(Precision precision);

// The numbers that quantization must be able to represent; others saturate.
struct Range {
  double low = 0;
  double high = 0;
  bool operator==(const Range&) const = default;
};

struct LayerPlan {
  std::string layer;  // named as in GraphNames
  Precision precision = Precision::kInt8;
  std::string reason;  // why it is not the requested precision; empty if it is
  bool operator==(const LayerPlan&) const = default;
};

// Seconds that layers take in one inference at each precision, by name; without those that were not
// measured.
using LayerSeconds = std::map<std::string, std::map<Precision, double>, std::less<>>;

struct QuantizationPlan {
  std::vector<LayerPlan> layers;        // in the graph's order; layers that are not named are f32
  std::map<std::string, Range> ranges;  // of values, named as in GraphNames
  // The number of distinct integers that the weights of an int8 layer may have: 16, 32, or 0 for no limit.
  int clusters = 0;

  Precision PrecisionOf(std::string_view layer) const;
  bool operator==(const QuantizationPlan&) const = default;
};

// {"layers": [{"layer": …, "precision": "int8", "reason": …}], "ranges": {NAME: [low, high]}, "clusters": 16}
std::string ToJson(const QuantizationPlan& plan);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_PLAN_H_
