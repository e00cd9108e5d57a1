// How much each layer errs by the precision that a plan gives it, measured on samples.
//
// Idea (as of opt/narrowing_error.h): a probe, the network in f32 in which each layer has a twin that
// computes the same from the same inputs, rounded as the plan says. Each layer's error is then its own, and
// one run gives all of them, as a few numbers for each channel.
#ifndef ATTUNE_QUANT_LAYER_ERROR_H_
#define ATTUNE_QUANT_LAYER_ERROR_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/executor.h"
#include "graph/graph.h"
#include "quant/calibration.h"
#include "quant/plan.h"

namespace attune::quant {

struct LayerError {
  // The mean of the twin less the layer, for each output channel over samples and positions.
  std::vector<double> channel_mean;
  double mean_square = 0;         // of the difference
  double signal_mean_square = 0;  // of the layer's output
  double max_absolute = 0;        // of the difference

  // The ratio of signal to quantization noise, 10 log₁₀(signal / difference); infinite without a difference.
  double SqnrDb() const;
};

// For each layer of the plan that is not f32, by name. Errors: as of Quantize(), and the executor's.
absl::StatusOr<std::map<std::string, LayerError>> MeasureLayerErrors(const Graph& graph,
                                                                     const QuantizationPlan& plan,
                                                                     const std::vector<Sample>& samples,
                                                                     const Executor& executor);

// Takes the mean error of each channel from the bias of each int8 layer of `graph`, which is in f32 still:
// the rounding of weights shifts the mean of what a layer gives, and later layers see that in all positions
// (Nagel et al.: Data-free quantization through weight equalization and bias correction, 2019, the empirical
// form). A convolution without a bias gets one; a matrix product without one is left as it is. Names stay.
// Returns how many layers were corrected.
int CorrectBiases(Graph& graph, const QuantizationPlan& plan,
                  const std::map<std::string, LayerError>& errors);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_LAYER_ERROR_H_
