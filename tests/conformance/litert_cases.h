// LiteRT's own test models: small ones in the format of TensorFlow Lite, without expected outputs.
#ifndef ATTUNE_TESTS_CONFORMANCE_LITERT_CASES_H_
#define ATTUNE_TESTS_CONFORMANCE_LITERT_CASES_H_

#include <string>

#include "absl/status/statusor.h"
#include "case.h"
#include "formats.h"

namespace attune::conformance {

// A case is a model file below `data`. It is compiled, and the code is compared with the reference
// interpreter as `attune verify` does it, on the inputs that `options` names and otherwise on random ones.
// compare_litert.py, which needs LiteRT, checks whether both compute what LiteRT computes.
absl::StatusOr<Tasks> FindLitertCases(const std::string& data, const RunOptions& options);

}  // namespace attune::conformance

#endif  // ATTUNE_TESTS_CONFORMANCE_LITERT_CASES_H_
