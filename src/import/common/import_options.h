// The options for importing any format.
#ifndef ATTUNE_IMPORT_COMMON_IMPORT_OPTIONS_H_
#define ATTUNE_IMPORT_COMMON_IMPORT_OPTIONS_H_

#include <map>
#include <string>

#include "base/progress.h"
#include "graph/bounded_executor.h"
#include "graph/tensor.h"

namespace attune {

struct ImportOptions {
  // Complete shapes of inputs whose dimensions the model leaves open. A symbol that one input binds is
  // bound for all.
  std::map<std::string, Shape> input_shapes = {};
  // Values of inputs, only used if a shape or another static argument depends on them. Such an input is
  // removed from the graph unless other nodes use it as data. The shapes of the values bind symbols like
  // input_shapes.
  std::map<std::string, Tensor> input_values = {};
  // Computes what must be known at import; in practice the reference interpreter. Not owned. Without an
  // executor, everything that must be computed is reported as not supported.
  const BoundedExecutor* executor = nullptr;
  // The name of a signature, for a model that has several. Empty: the one for inference.
  std::string signature = {};
  // Called for each operator that is created.
  WorkControl control = {};
};

}  // namespace attune

#endif  // ATTUNE_IMPORT_COMMON_IMPORT_OPTIONS_H_
