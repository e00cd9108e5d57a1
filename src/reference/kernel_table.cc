#include "reference/kernels.h"

namespace attune::reference {

Kernel* FindKernel(Op op) {
  static constexpr Kernel* kTable[] = {
#define OP(enumerator, name, min_inputs, max_inputs, outputs, category, rule, kernel, ...) Evaluate##kernel,
#include "graph/op_table.inc"
#undef OP
  };
  return kTable[static_cast<size_t>(op)];
}

}  // namespace attune::reference
