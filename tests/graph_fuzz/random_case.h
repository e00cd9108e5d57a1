// One random graph for each seed.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_RANDOM_CASE_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_RANDOM_CASE_H_

#include <cstdint>

#include "graph_maker.h"

namespace attune::graph_fuzz {

// A graph of random operators and patterns, with about 10 nodes in the median and at most 40. It may have
// no output, if nothing could be added.
RandomCase MakeRandomCase(uint64_t seed);

// The same of integers and bools alone, whose results judge_integers.py knows, with about 6 nodes.
RandomCase MakeIntegerCase(uint64_t seed);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_RANDOM_CASE_H_
