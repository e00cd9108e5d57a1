// Makes a failing case small, so that a person sees at once what fails.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_SHRINK_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_SHRINK_H_

#include <functional>

#include "fuzz_case.h"

namespace attune::graph_fuzz {

// Whether a case still fails in the same way.
using StillFails = std::function<bool(const FuzzCase&)>;

// Returns a case that still fails and that no step of these makes smaller: leaving out an output, or
// replacing it by an operand of its node; replacing a node's results by inputs; replacing a node's result
// by one of its operands; leaving out a pass; a plainer setting. Calls `fails` at most `max_tries` times.
// `fuzz_case` itself fails.
FuzzCase Shrink(FuzzCase fuzz_case, const StillFails& fails, int max_tries);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_SHRINK_H_
