// The collections of conformance data: one row each in formats.cc.
#ifndef ATTUNE_TESTS_CONFORMANCE_FORMATS_H_
#define ATTUNE_TESTS_CONFORMANCE_FORMATS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "case.h"

namespace attune::conformance {

struct RunOptions {
  // What runs models whose outputs are known, "compiled" or "reference".
  std::string executor = "compiled";
  // A file of values for inputs of models that come without any, a line "case input value value…" for each.
  // May be empty.
  std::string inputs;
};

struct Format {
  std::string_view name;     // of --format
  std::string_view heading;  // of the file of expectations: lines that begin with #
  // Everything below the folder `data` that can be run. Errors say what is wrong with `options`.
  absl::StatusOr<Tasks> (*find)(const std::string& data, const RunOptions& options);
};

std::vector<std::string> FormatNames();
// Of a name that is one of these.
const Format& FormatNamed(std::string_view name);

}  // namespace attune::conformance

#endif  // ATTUNE_TESTS_CONFORMANCE_FORMATS_H_
