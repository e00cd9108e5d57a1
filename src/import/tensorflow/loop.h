// Loops: unrolled if the number of steps follows from constants, otherwise kept as a region.
#ifndef ATTUNE_IMPORT_TENSORFLOW_LOOP_H_
#define ATTUNE_IMPORT_TENSORFLOW_LOOP_H_

#include <functional>
#include <vector>

#include "import/tensorflow/op_context.h"

namespace attune::tensorflow {

// while (condition(carried)) carried = body(carried). Both append nodes to the graph that is passed, to
// which the carried values belong.
struct LoopSteps {
  std::function<Value*(Graph*, const Outputs&)> condition;
  std::function<Outputs(Graph*, const Outputs&)> body;
  std::vector<bool> invariant;  // for each carried value, whether the body passes it through
};

// The carried values after the last step.
Outputs RunLoop(OpContext& c, const LoopSteps& loop, Outputs carried);

// Throws Cancelled if one of the values is not supported, which has been reported.
void RequireAll(const Outputs& values);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_LOOP_H_
