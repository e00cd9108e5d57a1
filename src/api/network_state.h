// What is behind a Network; for its own sources.
#ifndef ATTUNE_API_NETWORK_STATE_H_
#define ATTUNE_API_NETWORK_STATE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/network.h"

namespace attune {

struct Network::State {
  absl::Status status;
  std::string source;  // the file, for messages
  std::string sha256;
  ModelOptions options;
  std::shared_ptr<const Graph> imported, optimized;
  std::vector<std::shared_ptr<const Graph>> other_shapes;  // as `optimized`, at other input shapes
  std::shared_ptr<const QuantizedModel> quantized;         // whose graph is the imported one then
  std::string pass_plan;
  NetworkPrecision precision;  // of what the model has in f32
  std::vector<StepReport> passes;
  std::string artifact;
  std::shared_ptr<const CompiledModel> compiled;
  CompileReport report;
  std::optional<PrecisionReport> precision_report;
  // What it was measured with, and the outputs in f32, until those of the compiled network are known.
  std::vector<Tensor> examples, expected;
};

// The error with the model's file before it, once; each line of an NS list with the file and a way out behind
// it.
absl::Status Name(const absl::Status& status, const std::string& source);

}  // namespace attune

#endif  // ATTUNE_API_NETWORK_STATE_H_
