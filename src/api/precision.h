// The effect of a narrow type on a network: which layers use it, and the errors of these layers and of the
// outputs.
#ifndef ATTUNE_API_PRECISION_H_
#define ATTUNE_API_PRECISION_H_

#include <string>
#include <vector>

#include "api/tensors.h"
#include "opt/narrowing_error.h"

namespace attune {

struct OutputError {
  std::string name;
  // The largest difference from f32, relative to the root mean square of the output in f32; infinite if
  // only one of the two values is finite.
  double error = 0;
};

// Reports the effect of --precision bf16 or bf16x3 on each layer of a network.
struct PrecisionReport {
  std::string precision = "bf16";  // or "bf16x3", for which nothing is measured
  std::vector<LayerPrecision> layers;
  // Errors of the float outputs, for the examples that the layers were measured with. Empty before the
  // network is compiled, and if nothing was measured.
  std::vector<OutputError> outputs;
  // Why nothing, or not the outputs, was measured. Empty if both were, or if the plan requires neither.
  std::string not_measured;
};

// `actual` has the same order as `expected`.
std::vector<OutputError> OutputErrors(const std::vector<Tensor>& expected,
                                      const std::vector<NamedTensor>& actual);

}  // namespace attune

#endif  // ATTUNE_API_PRECISION_H_
