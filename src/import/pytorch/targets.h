// Finds the operator that a node of an exported program names.
#ifndef ATTUNE_IMPORT_PYTORCH_TARGETS_H_
#define ATTUNE_IMPORT_PYTORCH_TARGETS_H_

#include <string_view>

#include "import/pytorch/ops.h"

namespace attune::pytorch {

// The meaning of a node's target. An in-place operator ("aten.relu_") uses the row of the operator that is
// not in place.
struct Target {
  const Row* row = nullptr;  // nullptr: unknown
  bool in_place = false;     // the result replaces the first tensor among the arguments
};
Target FindTarget(std::string_view target);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_TARGETS_H_
