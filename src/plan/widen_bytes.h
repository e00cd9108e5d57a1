// Widens bytes that are multiplied to 16 bits, for processors that multiply only such numbers exactly.
#ifndef ATTUNE_PLAN_WIDEN_BYTES_H_
#define ATTUNE_PLAN_WIDEN_BYTES_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "target/target.h"

namespace attune {

// Changes fused groups in plain layouts, where `target` multiplies pairs of i16, but no bytes exactly:
// operands of integer products with enough terms and rows become i16, in memory too. The kernel that makes
// such a value widens it last, and its other readers narrow it first. Results are the same integers.
absl::Status WidenBytes(Graph& graph, const Target& target);

}  // namespace attune

#endif  // ATTUNE_PLAN_WIDEN_BYTES_H_
