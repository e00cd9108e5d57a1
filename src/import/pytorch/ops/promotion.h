// The type in which PyTorch computes:
// https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
#ifndef ATTUNE_IMPORT_PYTORCH_OPS_PROMOTION_H_
#define ATTUNE_IMPORT_PYTORCH_OPS_PROMOTION_H_

#include <vector>

#include "import/pytorch/op_context.h"

namespace attune::pytorch {

// Tensors with dimensions have priority over those without, and those over numbers: a later kind only
// matters if it has a higher category (bool, integer, float). Numbers are bool, i64 or f32.
DType ResultType(const std::vector<Operand>& operands);

// The type itself if it is a float; f32, PyTorch's default, for integers and bools.
DType AsFloatType(DType dtype);

struct Promoted {
  Value* a;
  Value* b;
  DType dtype;
};
// Both operands, converted to the type of their result.
Promoted Promote(OpContext& c, const Operand& a, const Operand& b);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_OPS_PROMOTION_H_
