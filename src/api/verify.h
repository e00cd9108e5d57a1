// Compares compiled code with the reference.
#ifndef ATTUNE_API_VERIFY_H_
#define ATTUNE_API_VERIFY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/tensors.h"
#include "graph/graph.h"
#include "reference/compare.h"

namespace attune {

struct OutputCheck {
  std::string name;
  // "absolute 1.2e-06 + relative 1e-04", "at most one step", "cosine at least 0.999"; possibly followed by
  // what else is allowed.
  std::string criterion;
  Comparison comparison;
  bool ok = false;
};

struct VerifyReport {
  std::vector<OutputCheck> outputs;
  double reference_seconds = 0;

  bool ok() const;
};

// Compares each output of a whole network. Floats use NetworkTolerance; integers must be equal. A network
// that quantizes intermediate values amplifies rounding to whole steps: its integers may differ by one
// step, and its floats need a cosine similarity of at least 0.999. `precision`: the compiled network's
// precision, in place of f32.
std::vector<OutputCheck> CheckOutputs(const Graph& graph, const std::vector<Tensor>& expected,
                                      const std::vector<NamedTensor>& actual,
                                      const NetworkPrecision& precision = {});

// Runs the reference interpreter on `graph` and compares. If the comparison fails, compares again with
// bounds on the effect of rounding on each element (reference/error_bound.h), which takes up to nine more
// runs. `inputs` are found by name; others are ignored.
absl::StatusOr<VerifyReport> VerifyAgainstReference(const Graph& graph,
                                                    const std::vector<NamedTensor>& inputs,
                                                    const std::vector<NamedTensor>& actual,
                                                    const NetworkPrecision& precision = {});

}  // namespace attune

#endif  // ATTUNE_API_VERIFY_H_
