// Post-training quantization of a model, from samples to a model file in integers.
#ifndef ATTUNE_API_QUANTIZE_H_
#define ATTUNE_API_QUANTIZE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/tensors.h"
#include "base/progress.h"
#include "graph/executor.h"
#include "quant/calibration.h"
#include "quant/cluster.h"
#include "quant/plan.h"
#include "quant/report.h"
#include "quant/sensitivity.h"

namespace attune {

struct QuantizeOptions {
  quant::CalibrationOptions calibration;
  // Whether layers get more precise types, those that cost most first, until no more than `max_drop` of the
  // agreement with the network in f32 is lost.
  bool is_mixed = false;
  double max_drop = 0.01;
  std::vector<quant::Precision> fallbacks = {quant::Precision::kF32};  // as of quant::SearchOptions
  quant::Criterion criterion = quant::DefaultCriterion();
  // Whether layers are timed on this machine: the report says it, and with is_mixed, types that a layer gains
  // nothing by are left out.
  bool measures_seconds = false;
  int clusters = 0;  // different weights of a layer: 16, 32, or 0 for as many as there are
  bool equalizes = true;
  bool corrects_biases = true;
  // Every so manieth sample is not calibrated with, but compared by; with fewer samples the last one.
  int held_back_period = 4;
  // What runs the network; nullptr: compiled for this machine, on `threads` threads (0: all processors).
  const Executor* executor = nullptr;
  int threads = 0;
  // Asked and told before each step, and before each run of the network where a step has many.
  WorkControl control;
};

struct QuantizedModel {
  std::shared_ptr<const Graph> graph;
  quant::QuantizationPlan plan;
  std::vector<quant::ClusteredLayer> clustered;
  quant::QuantizationReport report;
};

// `graph`, as imported, quantized by `samples`, each of which has all inputs by name. Biases are corrected
// where the network agrees better with f32 by it. Errors: no samples, one without an input, a network without
// convolutions or matrix products, Cancelled, or what compiling reports. Network::Quantize() does this to a
// model's file.
absl::StatusOr<QuantizedModel> QuantizeGraph(const Graph& graph,
                                             const std::vector<std::vector<NamedTensor>>& samples,
                                             const QuantizeOptions& options = {});

// Writes the graph as an ONNX model.
absl::Status SaveOnnx(const QuantizedModel& model, const std::string& path);

}  // namespace attune

#endif  // ATTUNE_API_QUANTIZE_H_
