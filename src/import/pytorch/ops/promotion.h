// Which type PyTorch computes in: https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
#ifndef ATTUNE_IMPORT_PYTORCH_OPS_PROMOTION_H_
#define ATTUNE_IMPORT_PYTORCH_OPS_PROMOTION_H_

#include <vector>

#include "import/pytorch/op_context.h"

namespace attune::pytorch {

// Tensors with dimensions count before those without, and those before numbers: a later kind only decides
// where it is of a higher category (bool, integer, float). Numbers are bool, i64 or f32.
DType ResultType(const std::vector<Operand>& operands);

// The type itself where it is a float; f32, PyTorch's default, of integers and bools.
DType AsFloatType(DType dtype);

struct Promoted {
  Value* a;
  Value* b;
  DType dtype;
};
// Both operands in the type of their result.
Promoted Promote(OpContext& c, const Operand& a, const Operand& b);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_OPS_PROMOTION_H_
