// What every format's import takes.
#ifndef ATTUNE_IMPORT_COMMON_IMPORT_OPTIONS_H_
#define ATTUNE_IMPORT_COMMON_IMPORT_OPTIONS_H_

#include <map>
#include <string>

#include "base/progress.h"
#include "graph/bounded_executor.h"
#include "graph/tensor.h"

namespace attune {

struct ImportOptions {
  // Whole shapes of inputs whose dimensions the model leaves open. A symbol that one input binds is bound
  // for all.
  std::map<std::string, Shape> input_shapes = {};
  // Values of inputs, used only where a shape or another static argument depends on them. Such an input
  // leaves the graph unless other nodes use it as data. Their shapes bind as input_shapes do.
  std::map<std::string, Tensor> input_values = {};
  // Computes what must be known at import; the reference interpreter in practice. Not owned. Without one,
  // everything that must be computed is reported as not supported.
  const BoundedExecutor* executor = nullptr;
  // Which way into a model that has several: the name of a signature. Empty: the one that is meant for
  // inference.
  std::string signature = {};
  // Asked and told for each operator that is made.
  WorkControl control = {};
};

}  // namespace attune

#endif  // ATTUNE_IMPORT_COMMON_IMPORT_OPTIONS_H_
