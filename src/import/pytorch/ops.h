// The table of operators.
#ifndef ATTUNE_IMPORT_PYTORCH_OPS_H_
#define ATTUNE_IMPORT_PYTORCH_OPS_H_

#include <span>
#include <string_view>
#include <vector>

#include "import/common/listed_operator.h"
#include "import/pytorch/op_context.h"

namespace attune::pytorch {

// The memory that PyTorch stores a result in. kSame: it is the first tensor among the arguments. kView: it
// may share that tensor's memory.
enum class Memory { kNew, kSame, kView };

struct Row {
  // Without "torch.ops."; a name with an overload ("aten.max.dim") has priority over one without.
  std::string_view name;
  Lowering* lower;
  Memory memory = Memory::kNew;
};

// The rows, sorted by name.
std::span<const Row> Rows();

// The rows as a list for people.
std::vector<ListedOperator> ListOperators();

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_OPS_H_
