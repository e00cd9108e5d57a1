// Reports how quantization changed a network, for people and for programs.
#ifndef ATTUNE_QUANT_REPORT_H_
#define ATTUNE_QUANT_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "nlohmann/json.hpp"
#include "quant/cluster.h"
#include "quant/layer_error.h"
#include "quant/plan.h"
#include "quant/sensitivity.h"

namespace attune::quant {

struct LayerReport {
  std::string layer;
  std::string op;  // "conv", "matmul"
  Precision precision = Precision::kF32;
  std::string reason;
  // For the layer alone; nullopt if it is f32, or was not measured.
  std::optional<double> sqnr_db;
  std::optional<double> max_absolute_error;
  int64_t multiply_adds = 0;
  std::map<Precision, double> seconds;  // of one inference; without those not measured
  int64_t float_bytes = 0;              // of the weights in f32
  int64_t bytes = 0;                    // size at its precision: integers and scales, or indices and codebook
};

struct QuantizationReport {
  std::vector<LayerReport> layers;  // in the graph's order
  // Agreement with the network in f32, on data that was not used for calibration.
  NetworkAgreement agreement;
  int64_t calibration_samples = 0;
  int64_t held_back_samples = 0;
  // One inference, measured interleaved on this machine, in f32 and as quantized; 0: not measured.
  double float_seconds = 0, seconds = 0;
  // The instruction set for products of 8-bit integers that the machine lacks ("VNNI"); empty if it has it,
  // or nothing was measured.
  std::string missing_instructions;
  int equalized_pairs = 0;
  int corrected_biases = 0;

  int64_t float_bytes() const;
  int64_t bytes() const;
  // The share of all multiply-adds of layers that have this precision.
  double ShareAt(Precision precision) const;
  // By more than what two measurements of the same network may differ.
  bool is_slower() const;
};

// The part about layers. `graph` is the f32 graph of the plan.
std::vector<LayerReport> ReportLayers(const Graph& graph, const QuantizationPlan& plan,
                                      const std::map<std::string, LayerError>& errors,
                                      const std::vector<ClusteredLayer>& clustered,
                                      const LayerSeconds& seconds = {});

// Numbers that are not finite are null.
nlohmann::ordered_json ToJson(const QuantizationReport& report);

// A sentence about the time of one inference, beside that in f32, and about the agreement. Empty if the times
// were not measured.
std::string Verdict(const QuantizationReport& report);

// A few lines about the network: layers and weights, multiply-adds, agreement, verdict.
std::vector<std::string> Summarize(const QuantizationReport& report);

// A table of layers, and the summary.
std::string ToText(const QuantizationReport& report);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_REPORT_H_
