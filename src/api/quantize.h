// Post-training quantization: turns a model and samples into a model file with integers.
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
#include "options/settings.h"
#include "quant/cluster.h"
#include "quant/plan.h"
#include "quant/report.h"
#include "quant/sensitivity.h"

namespace attune {

// If `is_mixed` is set, layers get more precise types until the loss of agreement with the f32 network is at
// most `max_drop`; those that cost the most accuracy come first.
struct QuantizeOptions : QuantizeSettings {
  double max_drop = 0.01;
  std::vector<quant::Precision> fallbacks = {quant::Precision::kF32};  // as in quant::SearchOptions
  quant::Criterion criterion = quant::DefaultCriterion();
  // Whether to time the layers and the network on this machine. The report then has the times, and with
  // is_mixed, a layer does not get types that make it no faster.
  bool measures_seconds = false;
  // One of so many samples is held back from calibration and used for comparison; with fewer samples, the
  // last one is.
  int held_back_period = 4;
  // Runs the network; nullptr: compile it for this machine, with `threads` threads (0: all processors).
  const Executor* executor = nullptr;
  // Called before each step, and in steps that run the network many times, before each run.
  WorkControl control;
};

struct QuantizedModel {
  std::shared_ptr<const Graph> graph;
  quant::QuantizationPlan plan;
  std::vector<quant::ClusteredLayer> clustered;
  quant::QuantizationReport report;
};

// Quantizes `graph`, as imported, with `samples`, each of which has all inputs by name. Biases are
// corrected if this improves the network's agreement with f32. Errors: no samples, a sample without an
// input, a network without convolutions or matrix products, Cancelled, or an error of compiling.
// Network::Quantize() does the same for a model's file.
absl::StatusOr<QuantizedModel> QuantizeGraph(const Graph& graph,
                                             const std::vector<std::vector<NamedTensor>>& samples,
                                             const QuantizeOptions& options = {});

}  // namespace attune

#endif  // ATTUNE_API_QUANTIZE_H_
