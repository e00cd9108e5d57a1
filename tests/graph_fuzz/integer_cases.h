// Random graphs of integers, whose results a program in Python judges by exact integers of its own:
// judge_integers.py.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_INTEGER_CASES_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_INTEGER_CASES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace attune::graph_fuzz {

// One graph (MakeIntegerCase()), after it was tried with `settings` (check.h), as a line of JSON:
//   {"seed", "tensors": {NAME: {"dtype", "shape", "data"}} of inputs and constants, "nodes": as NodeToJson()
//   gives them,
//    "outputs": [{"value": NAME, "reference", "compiled", "imported"}]}
// with each output's tensor by the reference, of the compiled graph, and of the graph that was exported to
// ONNX, imported and compiled; "imported" is null where ONNX cannot express the graph. Errors: NotFound if
// the graph has no outputs; any other error is a fault.
absl::StatusOr<std::string> IntegerLine(uint64_t seed, const std::string& cpu);

// Writes the lines of `count` seeds to `path`, each made in a process of its own, `jobs` at a time, and
// prints how many were written. Returns whether there was no fault.
struct IntegerOptions {
  std::string path;
  uint64_t seed = 1;
  int64_t count = 1;
  int jobs = 1;
  int seconds_each = 60;
  std::string cpu;  // as DrawSettings() takes it
};
bool WriteIntegerLines(const IntegerOptions& options);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_INTEGER_CASES_H_
