// What became of one case of conformance data.
#ifndef ATTUNE_TESTS_CONFORMANCE_CASE_H_
#define ATTUNE_TESTS_CONFORMANCE_CASE_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace attune::conformance {

// kRefused: the model is said to be damaged or inconsistent, which some are on purpose.
enum class Outcome { kPass, kNotSupported, kRefused, kWrong, kCrash };

struct Result {
  Outcome outcome = Outcome::kWrong;
  // Of kNotSupported the first NS line's reason, of kRefused the error, of the others what went wrong.
  std::string message;
};

// Runs a case. It is called in a process of its own.
using Task = std::function<Result()>;
// By the case's name, which has no blanks in it.
using Tasks = std::map<std::string, Task>;
using Results = std::map<std::string, Result>;

// Why there is no result: NS lines as kNotSupported, everything else as kWrong with `stage` before it.
Result FromStatus(const absl::Status& status, std::string_view stage);

}  // namespace attune::conformance

#endif  // ATTUNE_TESTS_CONFORMANCE_CASE_H_
