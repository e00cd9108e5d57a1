// The error of each layer with the precision that a plan gives it, measured on samples.
//
// Idea (as in opt/narrowing_error.h): a probe, which is the network in f32 where each layer has a twin that
// computes the same from the same inputs, rounded as the plan says. This isolates the error of each layer,
// and one run measures all of them, as a few numbers per channel.
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
  // The mean of twin minus layer, per output channel, over samples and positions.
  std::vector<double> channel_mean;
  double mean_square = 0;         // of the difference
  double signal_mean_square = 0;  // of the layer's output
  double max_absolute = 0;        // of the difference

  // The signal-to-quantization-noise ratio, 10 log₁₀(signal / difference); infinite without a difference.
  double SqnrDb() const;
};

// The errors by name, for each layer of the plan that is not f32. Errors: those of Quantize(), and the
// executor's.
absl::StatusOr<std::map<std::string, LayerError>> MeasureLayerErrors(const Graph& graph,
                                                                     const QuantizationPlan& plan,
                                                                     const std::vector<Sample>& samples,
                                                                     const Executor& executor);

// Subtracts the mean error of each channel from the bias of each int8 layer of `graph`, which is still in
// f32: the rounding of weights shifts the mean of a layer's output, and later layers see that shift at all
// positions (Nagel et al.: Data-free quantization through weight equalization and bias correction, 2019,
// the empirical form). A convolution without a bias gets one; a matrix product without one is left as it
// is. Names stay the same. Returns the number of corrected layers.
int CorrectBiases(Graph& graph, const QuantizationPlan& plan,
                  const std::map<std::string, LayerError>& errors);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_LAYER_ERROR_H_
