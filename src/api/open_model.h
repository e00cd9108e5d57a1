// A model whose inputs leave sizes open, imported for all of them.
#ifndef ATTUNE_API_OPEN_MODEL_H_
#define ATTUNE_API_OPEN_MODEL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/opened_model.h"
#include "api/tensors.h"
#include "graph/graph.h"
#include "sizes/fit.h"

namespace attune {

// Whether the shapes and values leave a size of an input open.
absl::StatusOr<bool> LeavesOpen(OpenedModel& model, const InputOptions& options);

struct OpenImport {
  OpenSizes open;
  std::vector<std::unique_ptr<Graph>> graphs;  // at each of its points
};

// Imports the model at several points of what the options leave open. Fails for an input without a rank, and
// with NotSupported where the network depends on its sizes in more than sizes.
absl::StatusOr<OpenImport> ImportOpen(OpenedModel& model, const InputOptions& options);

}  // namespace attune

#endif  // ATTUNE_API_OPEN_MODEL_H_
