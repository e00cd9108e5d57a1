// The result of one case of conformance data.
#ifndef ATTUNE_TESTS_CONFORMANCE_CASE_H_
#define ATTUNE_TESTS_CONFORMANCE_CASE_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace attune::conformance {

// kRefused: the error says that the model is damaged or inconsistent; some models are so on purpose.
enum class Outcome { kPass, kNotSupported, kRefused, kWrong, kCrash };

struct Result {
  Outcome outcome = Outcome::kWrong;
  // kNotSupported: the reason of the first operator that is not supported; kRefused: the error; otherwise
  // what went wrong.
  std::string message;
};

// Runs a case. Called in a process of its own.
using Task = std::function<Result()>;
// Keyed by the case's name, which contains no blanks.
using Tasks = std::map<std::string, Task>;
using Results = std::map<std::string, Result>;

// Why there is no result: what is not supported becomes kNotSupported, all else kWrong with `stage` in front.
Result FromStatus(const absl::Status& status, std::string_view stage);

}  // namespace attune::conformance

#endif  // ATTUNE_TESTS_CONFORMANCE_CASE_H_
