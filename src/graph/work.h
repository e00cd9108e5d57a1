// What computing a node costs, for whoever computes at a file's word and must stop somewhere.
#ifndef ATTUNE_GRAPH_WORK_H_
#define ATTUNE_GRAPH_WORK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace attune {

// An upper bound, saturated to 64 bits: a fixed part, elements read and written, and for windows and
// contractions a term for each output element and each element of the second operand that meets it. Of a node
// with regions only its own part: what is within costs each time that it runs.
int64_t WorkOf(const Node& node);

// Bytes of all outputs, dynamic dimensions at their bounds; saturated to 64 bits.
int64_t OutputBytes(const Node& node);

// What may still be computed. Not safe from several threads.
class WorkBudget {
 public:
  WorkBudget(int64_t work, int64_t bytes) : work_(work), bytes_(bytes) {}

  // Takes what `node` costs; ResourceExhausted, then and ever after, once more is asked for than there is.
  absl::Status Spend(const Node& node);
  bool spent() const { return work_ < 0 || bytes_ < 0; }

 private:
  int64_t work_;
  int64_t bytes_;
};

}  // namespace attune

#endif  // ATTUNE_GRAPH_WORK_H_
