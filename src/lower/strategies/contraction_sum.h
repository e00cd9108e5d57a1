// Analyzes how the loops of a sum of products move its operands. contraction.cc
#ifndef ATTUNE_LOWER_STRATEGIES_CONTRACTION_SUM_H_
#define ATTUNE_LOWER_STRATEGIES_CONTRACTION_SUM_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lower/strategy.h"
#include "target/target.h"
#include "tensor/compute.h"

namespace attune {

// A loop over an axis of the output, or over a part of an axis that indices divide: channels in groups are
// two loops.
struct OutputLoop {
  size_t axis;
  int64_t extent;
  int64_t store_stride;
  std::vector<std::optional<int64_t>> strides;  // per operand
  bool guarded;                                 // which terms are left out depends on it
  bool padded;                                  // guarded, and along an axis of a convolution's image
  bool fills_lanes;                             // the readers of the sum read every index along it
};

// How an operand's indices move along a loop: the axis of the buffer, and by how much.
struct Move {
  int64_t axis, step;
  bool alone;  // the index is just the loop's variable
};

struct Operand {
  Buffer buffer;
  int64_t loads = 0;  // per element, in the formula
  int64_t uses = 1;   // sums that use an element: they differ by loops it does not move along
  std::vector<std::optional<Move>> moves;  // per loop; nothing if several indices move, or unevenly
  // For each of the buffer's axes, its steps along the loops.
  std::vector<std::vector<int64_t>> steps;
  // For each of the buffer's axes, the elements from the first to the last that one sum reads.
  std::vector<int64_t> reach;
};

struct Sum {
  Stage stage;                      // the accumulator, with the stages inlined into it
  std::map<size_t, int64_t> parts;  // of axes that are two loops: extent of the inner one
  std::vector<OutputLoop> loops;
  std::vector<Operand> operands;
  std::vector<size_t> terms_in_order;          // the stage's reduce axes, outermost first
  std::vector<std::set<size_t>> guarded_with;  // per reduce axis: axes in a condition on its terms
  int64_t terms = 1, lanes = 1;
};

// The sum, and the output that reads it, with the stages inlined into them.
struct SumStages {
  Stage sum, output;
};

// Nothing if the group computes more than these.
std::optional<SumStages> StagesOf(const Workload& workload);

// The constant by which indices divide an axis; 1: none, or its extent; 0: several, or no divisor of that.
int64_t PartOf(const Stage& stage, const Axis& axis);

// The workload must have StagesOf(), and each of its axes a PartOf().
Sum AnalyzeSum(const Workload& workload, const Target& target);

// The output's axis of a loop of the sum.
size_t AxisOf(const Workload& workload, size_t loop);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_CONTRACTION_SUM_H_
