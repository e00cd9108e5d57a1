// Parts that the strategies for matrix products share. gemm.cc
#ifndef ATTUNE_LOWER_STRATEGIES_GEMM_PARTS_H_
#define ATTUNE_LOWER_STRATEGIES_GEMM_PARTS_H_

#include <cstdint>
#include <string>

#include "lower/strategies/strategies.h"

namespace attune {

// How the right operand of a product is packed for stage `reader`: B [batch…, k, n] or [batch…, n, k] →
// [batch…, n / columns, k, columns], or [batch…, n / columns, k / terms, columns, terms] if an instruction
// takes several terms, or [block, n / columns, k / blocks, columns] if the terms are split into blocks.
struct RightPacking {
  StageHandle reader;
  int64_t columns;
  int64_t terms = 1, blocks = 1;  // at most one of them is more than 1
};
// Returns the stage that copies it.
absl::StatusOr<StageHandle> PackRightOperand(Schedule&, const Workload&, const RightPacking&);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGIES_GEMM_PARTS_H_
