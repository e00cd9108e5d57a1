// Mixed precision: which layers stay floats so that the network stays what it is.
//
// Problem: a few layers lose most of the accuracy, and which these are depends on their numbers. Idea: each
// layer alone in 8 bits, measured on data that was not calibrated with, says how much it costs. Of those that
// cost most, as few as possible get a more precise type, and only where all of them together do not keep the
// budget in that, as few as possible one more precise still. These numbers are found by bisection, where the
// loss is taken to grow with the number of layers. A type in which a layer is no faster than in a more
// precise one is left out for it. Cost: one network for each layer, and log₂ of that for each type.
#ifndef ATTUNE_QUANT_SENSITIVITY_H_
#define ATTUNE_QUANT_SENSITIVITY_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/executor.h"
#include "graph/graph.h"
#include "quant/agreement.h"
#include "quant/plan.h"

namespace attune::quant {

struct NetworkAgreement {
  double agreement = 1;  // the mean over samples
  double cosine = 1;     // likewise, by CosineAgreement
};

// Samples that were not calibrated with, and what the network gives for them in f32.
struct HeldBack {
  std::vector<Sample> inputs;
  std::vector<Sample> outputs;
};
absl::StatusOr<HeldBack> RunFloat(const Graph& graph, std::vector<Sample> inputs, const Executor& executor);

absl::StatusOr<NetworkAgreement> MeasureAgreement(const Graph& graph, const HeldBack& data,
                                                  const Executor& executor,
                                                  const Agreement& agreement = DefaultAgreement);

struct LayerSensitivity {
  std::string layer;
  double drop = 0;      // 1 - agreement with this layer alone quantized
  double distance = 0;  // 1 - cosine, which tells apart layers that change no class
};

// For each layer of `plan` that is not f32, at the plan's precision and ranges.
absl::StatusOr<std::vector<LayerSensitivity>> MeasureSensitivity(
    const Graph& graph, const QuantizationPlan& plan, const HeldBack& data, const Executor& executor,
    const Agreement& agreement = DefaultAgreement,
    const std::function<void(int64_t, int64_t)>& progress = {});

struct SearchOptions {
  double max_drop = 0.01;  // what of the agreement may be lost, at most
  // What layers become that cost too much or gain nothing, from the fastest to the most precise.
  std::vector<Precision> fallbacks = {Precision::kF32};
  Agreement agreement = DefaultAgreement;
  LayerSeconds seconds;  // of layers that are not among them, each type gains
};

struct SearchResult {
  QuantizationPlan plan;
  NetworkAgreement agreement;
};

// `plan` with the layers that cost most, or gain nothing, at a fallback, and a reason for each. The result
// keeps the budget as it was measured; if none does, all that cost something are at the last fallback.
absl::StatusOr<SearchResult> SearchPrecisions(const Graph& graph, const QuantizationPlan& plan,
                                              const std::vector<LayerSensitivity>& sensitivities,
                                              const HeldBack& data, const Executor& executor,
                                              const SearchOptions& options = {});

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_SENSITIVITY_H_
