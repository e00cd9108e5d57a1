// Writes random graphs as ONNX models with what they compute, for programs that compare other engines.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_WRITE_CASES_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_WRITE_CASES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace attune::graph_fuzz {

// Writes the seed's graph into `folder`, which is made:
//   model.onnx, case.json (names of inputs, of outputs with their values', and the nodes), NAME.npy of each
//   input; for each output expected_NAME.npy (the reference's), actual_NAME.npy (compiled for this machine,
//   one thread) and bound_NAME.npy (Judge::Bounds by the first effort).
// `thorough`: bounds are by all efforts, and all.onnx has all values that nodes make as its outputs, by their
// names in case.json; the arrays are those of all.onnx, without actual ones.
// bf16 is written as f32. Errors: Unimplemented where ONNX or the compiler cannot do it, a line a reason;
// NotFound where the graph has no outputs; any other is a fault.
absl::Status WriteCase(uint64_t seed, const std::string& folder, bool thorough);

// The graphs of `count` seeds, each into FOLDER/SEED and in a process of its own, `jobs` at a time. Prints
// how many were written and why others were not. Whether there was no fault.
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
