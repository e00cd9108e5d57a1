// Indices out of range: where the reference ends with an error, so must compiled code.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_SPOILED_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_SPOILED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_maker.h"

namespace attune::graph_fuzz {

// A case with an index out of range, which its reference refuses.
struct SpoiledCase {
  RandomCase random;
  std::string reader;  // the name of the node that refuses the index
};

// The same graph with a wrong element in an input, or in a constant, that a node reads as indices. nullopt if
// there is none, or if it is not an index out of range after all.
std::optional<SpoiledCase> SpoilInput(const RandomCase& random, uint64_t seed);
std::optional<SpoiledCase> SpoilConstant(const RandomCase& random, uint64_t seed);

// Returns the fault of the end of a spoiled case, of which `optimized` is the optimized graph; empty if it is
// the right error, or if the reader is not in that graph any more: nodes that no output needs do not run.
std::string Complaint(const SpoiledCase& spoiled, std::string_view optimized, const absl::Status& end);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_SPOILED_H_
