#include "api/precision.h"

#include <limits>

#include "reference/compare.h"

namespace attune {
namespace {

double ErrorOf(const Tensor& expected, const Tensor& actual) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Accepts any finite value.
  const Comparison comparison = Compare(expected, actual, {.absolute = kInfinity, .relative = 0});
  if (!comparison.ok()) return kInfinity;
  const double scale = RootMeanSquare(expected);
  return comparison.max_absolute_error == 0 ? 0 : comparison.max_absolute_error / scale;
}

}  // namespace

std::vector<OutputError> OutputErrors(const std::vector<Tensor>& expected,
                                      const std::vector<NamedTensor>& actual) {
  std::vector<OutputError> errors;
  for (size_t i = 0; i < expected.size() && i < actual.size(); ++i) {
    if (!IsFloat(expected[i].dtype())) continue;
    errors.push_back({actual[i].name, ErrorOf(expected[i], actual[i].tensor)});
  }
  return errors;
}

}  // namespace attune
