// The operators' lowerings: one explicit table.
#include "lower/operators.h"

#include "base/status.h"

namespace attune {
namespace {

using DefineFunction = absl::Status (*)(Definition&, const Node&);

// Null where an operator has no lowering of its own; elementwise ones share one.
DefineFunction FindDefine(Op op) {
  switch (op) {
    case Op::kConv:
    case Op::kConvInteger:
      return DefineConv;
    case Op::kConvTranspose:
      return DefineConvTranspose;
    case Op::kMatMul:
    case Op::kMatMulInteger:
      return DefineMatMul;
    case Op::kAttention:
      return DefineAttention;
    default:
      return IsElementwise(op) ? DefineElementwise : nullptr;
  }
}

}  // namespace

absl::Status DefineOperator(Definition& definition, const Node& node) {
  const DefineFunction define = FindDefine(node.op());
  if (define == nullptr) return NotSupported(OpName(node.op()), ": no code is generated for it");
  return Annotate(define(definition, node), OpName(node.op()));
}

}  // namespace attune
