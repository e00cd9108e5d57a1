// For tests: runs loop nests and compute definitions one element at a time, in double and i64.
#ifndef ATTUNE_TENSOR_TESTING_INTERPRETER_H_
#define ATTUNE_TENSOR_TESTING_INTERPRETER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensor/compute.h"

namespace attune {

// `f` holds the value of a float, `i` that of anything else.
struct ScalarValue {
  int64_t i = 0;
  double f = 0;
};

// The value of an operation on operands of one type (but for select) as expr.h defines it.
ScalarValue ApplyOp(MathOp op, DType dtype, const std::vector<ScalarValue>& args);

// Elements by the name of the buffer; integers are exact below 2^53.
using Arrays = std::map<std::string, std::vector<double>>;

// The least work of a run: for a select, the side that is taken. Loads for unused lanes may be beyond the end
// of a buffer, and do not count.
struct RunCounts {
  std::map<std::string, std::set<int64_t>> reads;  // the elements that were read, by the name of the buffer
  int64_t multiplications = 0;                     // of anything but indices, which are i64
};

// Runs the nest; parameters that `arrays` lacks start out as NaN (or a poison of integers), as do
// allocations. An error where an access, also one of the side of a select that is not taken, is out of
// bounds.
absl::Status RunLoopNest(const LoopNest& nest, Arrays& arrays, RunCounts* counts = nullptr);

// The value of an expression without loads.
ScalarValue Evaluate(const Expr& e, const std::map<const VarNode*, ScalarValue>& vars);

}  // namespace attune

#endif  // ATTUNE_TENSOR_TESTING_INTERPRETER_H_
