// Mixed precision: which layers stay floats so that the network stays what it is.
//
// Problem: a few layers lose most of the accuracy, and which these are depends on their numbers. Idea: each
// layer alone in 8 bits, measured on data that was not calibrated with, says how much it costs. Where the
// network keeps its budget only with all layers in a more precise type, groups of them go back, those first
// that cost least for their multiply-adds: one that breaks the budget is halved, until single layers are
// left. So from f32 to bf16, and from bf16 to 8 bits. A type in which a layer is no faster than in a more
// precise one is left out for it. Cost: one network for each layer, and a bounded number of them for the
// groups, most of which break the budget by the first samples already.
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
  double agreement = 1;  // the mean over samples
  double cosine = 1;     // likewise, by CosineAgreement
};

// Samples that were not calibrated with, and what the network gives for them in f32.
struct HeldBack {
  std::vector<Sample> inputs;
  std::vector<Sample> outputs;
};
absl::StatusOr<HeldBack> RunFloat(const Graph& graph, std::vector<Sample> inputs, const Executor& executor);

// Once the agreement is sure to stay below `least`, the rest of the samples is taken to agree.
absl::StatusOr<NetworkAgreement> MeasureAgreement(const Graph& graph, const HeldBack& data,
                                                  const Executor& executor,
                                                  const Agreement& agreement = DefaultAgreement,
                                                  double least = 0);

struct LayerSensitivity {
  std::string layer;
  double drop = 0;      // 1 - agreement with this layer alone quantized
  double distance = 0;  // 1 - cosine, which tells apart layers that change no class
  int64_t multiply_adds = 0;

  // The cost of a multiply-add, by which layers are ordered.
  std::pair<double, double> Rate() const;
};

// For each layer of `plan` that is not f32, at the plan's precision and ranges. Asks and tells `control`
// before each.
absl::StatusOr<std::vector<LayerSensitivity>> MeasureSensitivity(
    const Graph& graph, const QuantizationPlan& plan, const HeldBack& data, const Executor& executor,
    const Agreement& agreement = DefaultAgreement, const WorkControl& control = {});

struct SearchOptions {
  double max_drop = 0.01;  // what of the agreement may be lost, at most
  // The precisions, from the fastest to the most precise, of layers that cost too much or gain nothing.
  std::vector<Precision> fallbacks = {Precision::kF32};
  Agreement agreement = DefaultAgreement;
  LayerSeconds seconds;  // of layers that are not among them, each type gains
  int most_tries = 64;   // of groups of layers, for each type
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
