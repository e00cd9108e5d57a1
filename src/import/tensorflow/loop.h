// Loops: unrolled where their number of steps follows from constants, else kept as a region.
#ifndef ATTUNE_IMPORT_TENSORFLOW_LOOP_H_
#define ATTUNE_IMPORT_TENSORFLOW_LOOP_H_

#include <functional>
#include <vector>

#include "import/tensorflow/op_context.h"

namespace attune::tensorflow {

// while (condition(carried)) carried = body(carried). Both append nodes to the graph that they are given, of
// which the carried values are.
struct LoopSteps {
  std::function<Value*(Graph*, const Outputs&)> condition;
  std::function<Outputs(Graph*, const Outputs&)> body;
  std::vector<bool> invariant;  // which of the carried values the body hands through
};

// The carried values after the last step.
Outputs RunLoop(OpContext& c, const LoopSteps& loop, Outputs carried);

// Throws Cancelled where one of the values is not supported, which has been reported.
void RequireAll(const Outputs& values);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_LOOP_H_
