// Elementwise operators that consist of a few canonical ones.
#include <algorithm>

#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {

Outputs Square(OpContext& c) { return {c.Mul(c.In(0), c.In(0))}; }

Outputs CastToType(OpContext& c) { return {c.Cast(c.Stored(0), c.OutType())}; }

Outputs Identity(OpContext& c) { return {c.Stored(0)}; }

// A condition of rank 1 selects whole rows along the first axis.
Outputs Select(OpContext& c) {
  Value* condition = c.Stored(0);
  const int64_t rank = c.InRank(1);
  if (condition->type().rank() == 1 && rank > 1) {
    Shape rows(rank, 1);
    rows[0] = c.DimOf(condition, 0);
    condition = c.Reshape(condition, rows);
  }
  return {c.Where(condition, c.In(1), c.In(2))};
}

Outputs SelectV2(OpContext& c) { return {c.Where(c.Stored(0), c.In(1), c.In(2))}; }

}  // namespace attune::tflite
