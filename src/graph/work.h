// The cost of computing a node, for code that computes what a file asks for and must stop somewhere.
#ifndef ATTUNE_GRAPH_WORK_H_
#define ATTUNE_GRAPH_WORK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace attune {

// An upper bound, saturated to 64 bits: a fixed part and the elements read and written; for contractions,
// windows, sampling and dynamic operators, all of that once for each element of the second operand. A node
// with regions counts without them: the nodes inside cost each time that they run.
int64_t WorkOf(const Node& node);

// Bytes of all outputs, dynamic dimensions at their bounds; saturated to 64 bits.
int64_t OutputBytes(const Node& node);

// The work that may still be done. Not safe from several threads.
class WorkBudget {
 public:
  WorkBudget(int64_t work, int64_t bytes) : work_(work), bytes_(bytes) {}

  // Takes the cost of `node`. Once a node costs more than is left: ResourceExhausted, then and ever after.
  absl::Status Spend(const Node& node);
  bool spent() const { return work_ < 0 || bytes_ < 0; }

 private:
  int64_t work_;
  int64_t bytes_;
};

}  // namespace attune

#endif  // ATTUNE_GRAPH_WORK_H_
