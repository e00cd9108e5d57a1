// Mixed precision: decides which layers stay in float so that the network keeps its accuracy.
//
// Problem: a few layers lose most of the accuracy, and which these are depends on their numbers. Idea:
// measure on data that was not used for calibration how much each layer costs if it alone is in 8 bits. If
// the network only stays within the budget with all layers in a more precise type, groups of layers return
// to 8 bits, those with the least cost per multiply-add first; a group that exceeds the budget is halved,
// down to single layers. This is done first from f32 to bf16, then from bf16 to 8 bits. A layer does not
// get a type in which it is no faster than in a more precise one. Cost: one network for each layer, and a
// bounded number of networks for the groups, most of which exceed the budget within the first samples.
#ifndef ATTUNE_QUANT_SENSITIVITY_H_
#define ATTUNE_QUANT_SENSITIVITY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/progress.h"
#include "graph/executor.h"
#include "graph/graph.h"
#include "quant/agreement.h"
#include "quant/plan.h"

namespace attune::quant {

struct NetworkAgreement {
  double agreement = 1;  // mean over samples
  double cosine = 1;     // the same for CosineAgreement
};

// Samples that were not used for calibration, and the network's outputs for them in f32.
struct HeldBack {
  std::vector<Sample> inputs;
  std::vector<Sample> outputs;
};
absl::StatusOr<HeldBack> RunFloat(const Graph& graph, std::vector<Sample> inputs, const Executor& executor);

// Stops when the agreement must stay below `least`; the remaining samples then count as agreeing.
absl::StatusOr<NetworkAgreement> MeasureAgreement(const Graph& graph, const HeldBack& data,
                                                  const Executor& executor,
                                                  const Agreement& agreement = DefaultAgreement,
                                                  double least = 0);

struct LayerSensitivity {
  std::string layer;
  double drop = 0;      // 1 - agreement with this layer alone quantized
  double distance = 0;  // 1 - cosine, which distinguishes layers that change no class
  int64_t multiply_adds = 0;

  // The cost per multiply-add; layers are ordered by it.
  std::pair<double, double> Rate() const;
};

// The sensitivity of each layer of `plan` that is not f32, at the plan's precision and ranges. Calls
// `control` before each layer.
absl::StatusOr<std::vector<LayerSensitivity>> MeasureSensitivity(
    const Graph& graph, const QuantizationPlan& plan, const HeldBack& data, const Executor& executor,
    const Agreement& agreement = DefaultAgreement, const WorkControl& control = {});

struct SearchOptions {
  double max_drop = 0.01;  // the agreement that may be lost
  // The precisions for layers that cost too much or gain nothing, from the fastest to the most precise.
  std::vector<Precision> fallbacks = {Precision::kF32};
  Agreement agreement = DefaultAgreement;
  LayerSeconds seconds;  // layers without times count as gaining from every type
  int most_tries = 64;   // to lower groups of layers, for each type
};

struct SearchResult {
  QuantizationPlan plan;
  NetworkAgreement agreement;
};

// `plan` with fallbacks for the layers that cost most or gain nothing, and a reason for each. The result
// stays within the budget as measured; if nothing does, all layers that cost something have the last
// fallback.
absl::StatusOr<SearchResult> SearchPrecisions(const Graph& graph, const QuantizationPlan& plan,
                                              const std::vector<LayerSensitivity>& sensitivities,
                                              const HeldBack& data, const Executor& executor,
                                              const SearchOptions& options = {});

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_SENSITIVITY_H_
