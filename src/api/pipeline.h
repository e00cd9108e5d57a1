// The steps of the compiler as a request asks for them. All faces of the compiler go through these functions.
#ifndef ATTUNE_API_PIPELINE_H_
#define ATTUNE_API_PIPELINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/compile_request.h"
#include "api/inputs.h"
#include "api/network.h"
#include "api/opened_model.h"
#include "api/quantize.h"
#include "api/samples.h"
#include "api/tensors.h"
#include "api/tuning.h"
#include "plan/contractions.h"

namespace attune {

// Wall-clock seconds in each step.
struct StageSeconds {
  double load = 0, quantize = 0, optimize = 0, compile = 0;
  double total() const { return load + quantize + optimize + compile; }
};

// The options to quantize with for the request's only processor; the precision and the threads are those of
// the request.
absl::StatusOr<QuantizeOptions> QuantizeOptionsFor(const CompileRequest& request,
                                                   const SampleSettings& samples,
                                                   const QuantizeSettings& settings = {});

// Optimizes an imported network. `examples` are the inputs to measure with, see OptimizeOptions.
absl::StatusOr<Network> OptimizeFor(const Network& imported, const CompileRequest& request,
                                    const std::vector<NamedTensor>& examples = {});

// Compiles an optimized network.
absl::StatusOr<Network> CompileFor(const Network& optimized, const CompileRequest& request);

// Makes the options tune for the request's device and threads, with its records.
void SetRequest(const CompileRequest& request, TuneOptions& options);

// How a model becomes a network besides what the request says.
struct NetworkSource {
  std::vector<std::string> shapes;  // of inputs, as ParseNamedShape() reads them
  // More of them: the artifact is for each of these sets. Empty: for `shapes` alone.
  std::vector<std::vector<std::string>> shape_sets;
  // Whether the network is one for all sizes that its inputs leave open, without `shape_sets` and quantizing;
  // otherwise such sizes are an error.
  bool leaves_open = false;
  InputSources inputs;
  SampleSettings samples;  // read if the request quantizes the network
};

// A network, and the values of inputs that its source gives.
struct ReadyNetwork {
  Network network;
  std::vector<NamedTensor> inputs;
};

// Imports the model and, if the request asks for that, quantizes it; then optimizes it for the request's only
// processor. Fails for an artifact.
absl::StatusOr<ReadyNetwork> OptimizeModel(OpenedModel model, const NetworkSource& source,
                                           const CompileRequest& request);
// Imports the model, quantizes it if the request asks for that, optimizes and compiles it. An artifact is
// only loaded. Adds to the seconds.
absl::StatusOr<ReadyNetwork> CompileModel(OpenedModel model, const NetworkSource& source,
                                          const CompileRequest& request, StageSeconds* seconds = nullptr);
// How compiling would compute the model's contractions; generates no code. Fails for an artifact.
absl::StatusOr<std::vector<PlannedContraction>> PlanContractions(OpenedModel model,
                                                                 const NetworkSource& source,
                                                                 const CompileRequest& request);

}  // namespace attune

#endif  // ATTUNE_API_PIPELINE_H_
