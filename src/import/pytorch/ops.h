// The table of operators.
#ifndef ATTUNE_IMPORT_PYTORCH_OPS_H_
#define ATTUNE_IMPORT_PYTORCH_OPS_H_

#include <string_view>

#include "import/pytorch/op_context.h"

namespace attune::pytorch {

// Lowers one node. The results are its outputs in order, lists flattened; an output without a result cannot
// be used. Throws ImportFailure.
using Lowering = Outputs (*)(OpContext& c);

// Where PyTorch puts a result. kSame: it is the first tensor among the arguments. kView: it may lie in that
// tensor's memory.
enum class Memory { kNew, kSame, kView };

struct Row {
  // After "torch.ops."; with the overload ("aten.max.dim") it goes before one without.
  std::string_view name;
  Lowering lower;
  Memory memory = Memory::kNew;
};

// What a node's target means. An operator in place ("aten.relu_") has the row of the one that is not.
struct Target {
  const Row* row = nullptr;  // nullptr: unknown
  bool in_place = false;     // the result takes the place of the first tensor among the arguments
};
Target FindTarget(std::string_view target);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_OPS_H_
