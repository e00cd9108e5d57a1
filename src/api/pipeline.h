// The steps of the compiler as a request asks for them. All faces of the compiler go through these functions.
#ifndef ATTUNE_API_PIPELINE_H_
#define ATTUNE_API_PIPELINE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "api/compile_request.h"
#include "api/network.h"
#include "api/quantize.h"
#include "api/samples.h"
#include "api/tensors.h"
#include "api/tuning.h"

namespace attune {

// Wall-clock seconds in each step.
struct StageSeconds {
  double load = 0, quantize = 0, optimize = 0, compile = 0;
  double total() const { return load + quantize + optimize + compile; }
};

// The options to quantize with for the request's only processor.
absl::StatusOr<QuantizeOptions> QuantizeOptionsFor(const CompileRequest& request,
                                                   const SampleOptions& samples);

// Optimizes an imported network. `examples` are the inputs to measure with, see OptimizeOptions.
absl::StatusOr<Network> OptimizeFor(const Network& imported, const CompileRequest& request,
                                    const std::vector<NamedTensor>& examples = {});

// Compiles an optimized network.
absl::StatusOr<Network> CompileFor(const Network& optimized, const CompileRequest& request);

// Makes the options tune for the request's device and threads, with its records.
void SetRequest(const CompileRequest& request, TuneOptions& options);

// Optimizes and compiles one network for several sets of input shapes: `imported`, at least one, are the same
// model imported at each of them.
absl::StatusOr<Network> OptimizeAndCompileFor(const std::vector<Network>& imported,
                                              const CompileRequest& request,
                                              const std::vector<NamedTensor>& examples,
                                              StageSeconds& seconds);

}  // namespace attune

#endif  // ATTUNE_API_PIPELINE_H_
