// Records the distributions of a network's values on samples, and chooses ranges from them.
#ifndef ATTUNE_QUANT_CALIBRATION_H_
#define ATTUNE_QUANT_CALIBRATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/progress.h"
#include "graph/executor.h"
#include "graph/graph.h"
#include "quant/histogram.h"
#include "quant/plan.h"
#include "quant/ranges.h"

namespace attune::quant {

// One tensor for each input of a graph, in order; or for each output.
using Sample = std::vector<Tensor>;

struct CalibrationOptions {
  RangeMethod method = RangeMethod::kMse;
  double percentile = 99.99;  // for kPercentile, in (0, 100]
  // The maximum size of the values that are kept at the same time: if there are more, the samples run
  // several times. A larger value runs alone.
  int64_t slice_bytes = int64_t{256} << 20;
  // Called before each run.
  WorkControl control;
};

// Runs all samples, and calls `see` with the name (GraphNames) and the content of each of `values` for each
// sample. `executor` runs copies of `graph` with these values as additional outputs, each copy on all
// samples in a row. Errors: no samples, Cancelled, or the executor's.
absl::Status ObserveEach(const Graph& graph, const std::vector<Value*>& values,
                         const std::vector<Sample>& samples, const Executor& executor,
                         const CalibrationOptions& options,
                         const std::function<void(const std::string&, const Tensor&)>& see);

// The distributions of all values that may be quantized (CandidateValues), by their names (GraphNames).
// Errors as above.
absl::StatusOr<std::map<std::string, Histogram>> Observe(const Graph& graph,
                                                         const std::vector<Sample>& samples,
                                                         const Executor& executor,
                                                         const CalibrationOptions& options = {});

std::map<std::string, Range> ChooseRanges(const std::map<std::string, Histogram>& histograms,
                                          const CalibrationOptions& options = {});

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_CALIBRATION_H_
