// Makes a failing case small, so that a person sees at once what fails.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_SHRINK_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_SHRINK_H_

#include <functional>

#include "fuzz_case.h"

namespace attune::graph_fuzz {

// Whether a case still fails, in the same way.
using StillFails = std::function<bool(const FuzzCase&)>;

// A case that still fails and that none of these makes smaller: leaving out an output, or giving what it is
// computed from in its place; giving a node's results as inputs instead; taking a node's operand in the place
// of its result; leaving out a pass; a plainer setting. Calls `fails` at most `max_tries` times. `fuzz_case`
// fails.
FuzzCase Shrink(FuzzCase fuzz_case, const StillFails& fails, int max_tries);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_SHRINK_H_
