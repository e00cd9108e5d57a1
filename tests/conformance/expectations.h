// The expected result of each case, in a text file: "name status reason", sorted, one case per line. The
// list of cases that pass may only grow.
#ifndef ATTUNE_TESTS_CONFORMANCE_EXPECTATIONS_H_
#define ATTUNE_TESTS_CONFORMANCE_EXPECTATIONS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "case.h"

namespace attune::conformance {

struct Expectation {
  // "pass", "ns", "refused", or "contested": runtimes disagree, or the data depends on chance; `reason`
  // says which.
  std::string status;
  std::string reason;
};
using Expectations = std::map<std::string, Expectation>;

absl::StatusOr<Expectations> ReadExpectations(const std::string& path);

// Whether runtimes disagree about the case, so that any result passes.
bool IsContested(const Expectations& expected, const std::string& name);

// Writes the cases as they are now, below `heading`. Contested cases stay, and so do those that passed: the
// list only grows.
absl::Status WriteExpectations(const std::string& path, std::string_view heading, const Expectations& old,
                               const Results& results);

// One line for each case that is worse than expected: it passed before and does not now, it is wrong or
// crashes and is not contested, or it is not in the file at all.
std::vector<std::string> FindRegressions(const Expectations& expected, const Results& results);
// Names of the cases that pass now but were not expected to.
std::vector<std::string> FindProgress(const Expectations& expected, const Results& results);

}  // namespace attune::conformance

#endif  // ATTUNE_TESTS_CONFORMANCE_EXPECTATIONS_H_
