// The collections of conformance data: one row for each in formats.cc.
#ifndef ATTUNE_TESTS_CONFORMANCE_FORMATS_H_
#define ATTUNE_TESTS_CONFORMANCE_FORMATS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "case.h"

namespace attune::conformance {

struct RunOptions {
  // How models with known outputs are run: "compiled" or "reference".
  std::string executor = "compiled";
  // A file with input values for models that come without any, one line "case input value value…" for each
  // input. May be empty.
  std::string inputs;
};

struct Format {
  std::string_view name;     // of --format
  std::string_view heading;  // of the file of expectations: lines that begin with #
  // All cases below the folder `data` that can be run. Errors say what is wrong with `options`.
  absl::StatusOr<Tasks> (*find)(const std::string& data, const RunOptions& options);
};

std::vector<std::string> FormatNames();
// The format of this name, which must exist.
const Format& FormatNamed(std::string_view name);

}  // namespace attune::conformance

#endif  // ATTUNE_TESTS_CONFORMANCE_FORMATS_H_
