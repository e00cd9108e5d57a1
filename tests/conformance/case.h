// One case of the ONNX backend data: a model, and sets of inputs with the outputs that it must give.
#ifndef ATTUNE_TESTS_CONFORMANCE_CASE_H_
#define ATTUNE_TESTS_CONFORMANCE_CASE_H_

#include <string>

#include "graph/executor.h"

namespace attune::conformance {

enum class Outcome { kPass, kNotSupported, kWrong, kCrash };

struct Result {
  Outcome outcome = Outcome::kWrong;
  // Of kNotSupported the first NS line's reason, of the others what went wrong.
  std::string message;
};

// Imports `folder`/model.onnx once for each of its test_data_set_N, since shapes come from the inputs,
// executes it and compares. The tolerance is the backend suite's own, rtol 1e-3 and atol 1e-7; integers are
// exact. The known values of inputs go to the importer as well, for shapes that depend on them.
Result RunCase(const std::string& folder, const Executor& executor, const Executor& folding);

}  // namespace attune::conformance

#endif  // ATTUNE_TESTS_CONFORMANCE_CASE_H_
