// Operators that hold a graph of their own, which takes its place.
#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {

// (enabled, graph, inputs…): gradients are nothing to inference.
Outputs WithGradient(OpContext& c) { return c.Inline(1); }

// (device, dtype, enabled, cache, graph, inputs…)
Outputs WithAutocast(OpContext& c) {
  if (ToInt(c.NumAt(2)) != 0) Unsupported("automatic mixed precision; export the model without autocast");
  return c.Inline(4);
}

}  // namespace attune::pytorch
