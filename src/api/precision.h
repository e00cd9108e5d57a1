// What a narrow type does to a network: which layers have it, what each of them errs and what the outputs do.
#ifndef ATTUNE_API_PRECISION_H_
#define ATTUNE_API_PRECISION_H_

#include <string>
#include <vector>

#include "api/tensors.h"
#include "opt/narrowing_error.h"

namespace attune {

struct OutputError {
  std::string name;
  // The largest difference from f32 relative to the output's root mean square in f32; infinite where one is
  // no finite number and the other is.
  double error = 0;
};

// Says what --precision bf16 or bf16x3 did to each layer of a network.
struct PrecisionReport {
  std::string precision = "bf16";  // or "bf16x3", of which nothing is measured
  std::vector<LayerPrecision> layers;
  // The outputs of floats, for the examples that the layers were measured on. Empty before the network is
  // compiled, and where nothing was measured.
  std::vector<OutputError> outputs;
  // Why nothing was measured, or not the outputs. Empty where both were, or where the plan asks for neither.
  std::string not_measured;
};

// `actual` in the order of `expected`.
std::vector<OutputError> OutputErrors(const std::vector<Tensor>& expected,
                                      const std::vector<NamedTensor>& actual);

}  // namespace attune

#endif  // ATTUNE_API_PRECISION_H_
