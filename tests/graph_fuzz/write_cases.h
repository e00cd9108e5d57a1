// Writes random graphs as ONNX models, with their results, for programs that compare other engines.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_WRITE_CASES_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_WRITE_CASES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace attune::graph_fuzz {

// Writes the graph of the seed into `folder`, which is created:
//   model.onnx, case.json (names of the inputs, of the outputs with those of their values, and the nodes),
//   NAME.npy of each input; for each output expected_NAME.npy (from the reference), actual_NAME.npy (compiled
//   for this machine, one thread) and bound_NAME.npy (Judge::Bounds by the first effort).
// `thorough`: bounds are by all efforts, and all.onnx takes the place of model.onnx: its outputs are the
// results of all nodes, by the names in case.json. The arrays are those of all.onnx, without the actual
// ones. bf16 is written as f32. Errors: Unimplemented if ONNX or the compiler does not support something,
// one line per reason; NotFound if the graph has no outputs; any other error is a fault.
absl::Status WriteCase(uint64_t seed, const std::string& folder, bool thorough);

// Writes the graphs of `count` seeds, each into FOLDER/SEED and in a process of its own, `jobs` at a time.
// Prints how many were written and why others were not. Returns whether there was no fault.
struct WriteOptions {
  std::string folder;
  uint64_t seed = 1;
  int64_t count = 1;
  bool thorough = false;
  int jobs = 1;
  int seconds_each = 60;
};
bool WriteCases(const WriteOptions& options);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_WRITE_CASES_H_
