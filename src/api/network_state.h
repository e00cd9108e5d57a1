// The state behind a Network; only for its own sources.
#ifndef ATTUNE_API_NETWORK_STATE_H_
#define ATTUNE_API_NETWORK_STATE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/name_errors.h"
#include "api/network.h"
#include "graph/picture_comments.h"
#include "sizes/fit.h"

namespace attune {

struct Network::State {
  absl::Status status;
  std::string source;  // the file, for messages
  std::string sha256;
  std::map<std::string, Tensor> fixed_inputs;  // the values that the network was imported for
  PictureFormats pictures;                     // what is known, for inputs of the imported graph
  std::shared_ptr<const Graph> imported, optimized;
  std::vector<std::shared_ptr<const Graph>> other_shapes;  // the same as `optimized`, at other input shapes
  // Not empty for a network with open sizes: `imported` and `optimized` are at its first point, and
  // `imported_elsewhere` and `other_shapes` at the others.
  OpenSizes open;
  bool open_must_be_fast = false;
  std::vector<std::shared_ptr<const Graph>> imported_elsewhere;
  std::shared_ptr<const QuantizedModel> quantized;  // if set, its graph is `imported`
  std::string pass_plan;
  NetworkPrecision precision;  // of the parts that the model has in f32
  std::vector<StepReport> passes;
  std::string artifact;
  std::shared_ptr<const CompiledModel> compiled;
  std::map<std::string, Shape> open_shapes;  // of inputs, for what an artifact leaves open
  CompileReport report;
  std::optional<PrecisionReport> precision_report;
  // The inputs to measure with and their outputs in f32, kept until the errors of the compiled network are
  // known.
  std::vector<Tensor> examples, expected;
};

}  // namespace attune

#endif  // ATTUNE_API_NETWORK_STATE_H_
