// Operators that contain a graph, which replaces them.
#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {

// (enabled, graph, inputs…): inference ignores gradients.
Outputs WithGradient(OpContext& c) { return c.Inline(1); }

// (device, dtype, enabled, cache, graph, inputs…)
Outputs WithAutocast(OpContext& c) {
  if (ToInt(c.NumAt(2)) != 0) Unsupported("automatic mixed precision; export the model without autocast");
  return c.Inline(4);
}

}  // namespace attune::pytorch
