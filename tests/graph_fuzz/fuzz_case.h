// A graph with its inputs and a setting, in a file that a person can read and a test can replay.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_FUZZ_CASE_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_FUZZ_CASE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph_maker.h"
#include "setting.h"

namespace attune::graph_fuzz {

struct FuzzCase {
  RandomCase random;
  Setting setting;
};

// The text has sections, each after its name and "==": setting, plan (absent if it is the default one),
// graph, inputs (a graph of constants; its outputs have the names of the inputs). `comment`: lines in
// front.
std::string PrintCase(const FuzzCase& fuzz_case, const std::string& comment);
absl::StatusOr<FuzzCase> ParseCase(std::string_view text);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_FUZZ_CASE_H_
