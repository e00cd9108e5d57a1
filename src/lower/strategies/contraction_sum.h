// A sum of products as loops that move its operands. contraction.cc
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

// A loop over an axis of the output, or over the part of one that indices tell apart: channels in groups are
// two loops.
struct OutputLoop {
  size_t axis;
  int64_t extent;
  int64_t store_stride;
  std::vector<std::optional<int64_t>> strides;  // of each operand
  bool guarded;                                 // some terms are left out, depending on it
  bool padded;                                  // guarded, and along an axis of a convolution's image
  bool fills_lanes;                             // what reads the sum reads each place along it
};

// How an index moves along a loop: the axis of the buffer, and by how much.
struct Move {
  int64_t axis, step;
  bool alone;  // the index is the loop's variable
};

struct Operand {
  Buffer buffer;
  int64_t loads = 0;  // of one element, in the formula
  int64_t uses = 1;   // of each element, in sums that differ by loops it does not move along
  std::vector<std::optional<Move>> moves;  // along each loop; nothing where several indices move, or oddly
  // The steps of each of the buffer's axes along the loops.
  std::vector<std::vector<int64_t>> steps;
  // The elements along each of the buffer's axes that one sum reads from the first to the last.
  std::vector<int64_t> reach;
};

struct Sum {
  Stage stage;                      // the accumulator's, with what was inlined into it
  std::map<size_t, int64_t> parts;  // axes in two loops: the inner one's extent
  std::vector<OutputLoop> loops;
  std::vector<Operand> operands;
  std::vector<size_t> terms_in_order;          // the stage's reduce axes, outermost first
  std::vector<std::set<size_t>> guarded_with;  // of each reduce axis: the axes on which it depends with which
                                               // of its terms count
  int64_t terms = 1, lanes = 1;
};

// The sum, and the output that reads it, with what is inlined into them.
struct SumStages {
  Stage sum, output;
};

// Nothing where more is to be computed.
std::optional<SumStages> StagesOf(const Workload& workload);

// The constant that an axis is divided by in the stage's indices; 1: none, or the whole of it; 0: several.
int64_t PartOf(const Stage& stage, const Axis& axis);

// The workload must have StagesOf(), and each of its axes a PartOf().
Sum AnalyzeSum(const Workload& workload, const Target& target);

// The output's axis of a loop of the sum.
size_t AxisOf(const Workload& workload, size_t loop);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_CONTRACTION_SUM_H_
