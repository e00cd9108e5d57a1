// Bounds of the integers that a value can hold, whatever the inputs of the graph are.
#ifndef ATTUNE_OPT_INTEGER_RANGE_H_
#define ATTUNE_OPT_INTEGER_RANGE_H_

#include <cstdint>
#include <map>
#include <tuple>

#include "graph/graph.h"

namespace attune {

// All elements are in [low, high], the NaNs of floats apart. Wide enough for every integer type; for floats,
// the ends of the range also stand for the infinities.
struct IntegerRange {
  __int128 low, high;

  bool IsWithin(__int128 least, __int128 most) const { return low >= least && high <= most; }
};

// Analyses a graph that does not change meanwhile. It follows operators that keep, choose or bound integers
// (data movement, clip, minimum and modulo, positions of a maximum, sums and products that do not overflow);
// what other operators compute can be any number of their type.
class IntegerRanges {
 public:
  // States that `value`, an input of the graph, is within `range`.
  void Assume(const Value* value, const IntegerRange& range) { assumed_[value] = range; }

  // The range of all elements of `value`, or where `axis` is not negative, of those at `position` along it.
  IntegerRange Of(const Value* value, int axis = -1, int64_t position = 0);

 private:
  IntegerRange Compute(const Value* value, int axis, int64_t position);
  IntegerRange OfConstant(const Value* value, int axis, int64_t position) const;
  IntegerRange OfElementwise(const Node& node, int axis, int64_t position);
  IntegerRange OfMovement(const Node& node, int axis, int64_t position);
  IntegerRange OfConcat(const Node& node, int axis, int64_t position);
  IntegerRange OfGather(const Node& node);
  IntegerRange OfPositions(const Node& node, int output, int axis, int64_t position) const;
  IntegerRange OfChecked(const Node& node, int axis, int64_t position);

  int depth_ = 0;
  std::map<const Value*, IntegerRange> assumed_;
  std::map<std::tuple<const Value*, int, int64_t>, IntegerRange> known_;
};

}  // namespace attune

#endif  // ATTUNE_OPT_INTEGER_RANGE_H_
