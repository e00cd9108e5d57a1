// The ONNX backend data: models, each with sets of inputs and the outputs that it must give.
#ifndef ATTUNE_TESTS_CONFORMANCE_ONNX_CASES_H_
#define ATTUNE_TESTS_CONFORMANCE_ONNX_CASES_H_

#include <string>

#include "absl/status/statusor.h"
#include "case.h"
#include "formats.h"

namespace attune::conformance {

// A case is a folder below `data` that has a model.onnx. The executor that `options` names runs it. The
// tolerance is that of the backend suite, rtol 1e-3 and atol 1e-7; integers are exact.
absl::StatusOr<Tasks> FindOnnxCases(const std::string& data, const RunOptions& options);

}  // namespace attune::conformance

#endif  // ATTUNE_TESTS_CONFORMANCE_ONNX_CASES_H_
