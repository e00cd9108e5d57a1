#include "api/verify.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/status.h"
#include "reference/error_bound.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

constexpr double kMinCosine = 0.999;

// How many pairs of runs the analysis of rounding takes, at most, before an output is called wrong. In a few
// runs some elements hardly move, by chance: where no more than that are beyond their bounds, more runs tell.
int PairsToTry(const Comparison& comparison) {
  constexpr double kHopeless = 50;  // the error, as a multiple of the allowed one
  constexpr double kByChance = 1e-3;
  const bool hopeless = comparison.worst_excess > kHopeless;
  const bool many =
      static_cast<double>(comparison.mismatches) > 1 + kByChance * static_cast<double>(comparison.elements);
  return many && hopeless ? 2 : many || hopeless ? 4 : 16;
}

// Whether some value that depends on an input is quantized; constant weights alone do not count.
bool Quantizes(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) {
    for (int i = 0; i < node->num_regions(); ++i) {
      if (Quantizes(node->region(i))) return true;
    }
    return (node->op() == Op::kQuantize || node->op() == Op::kRequantize) &&
           node->input(0)->constant() == nullptr;
  });
}

// The tolerance without what rounding explains.
Tolerance ToleranceOf(const Tensor& expected, bool quantized, const NetworkPrecision& precision) {
  if (quantized && IsInt(expected.dtype())) return {.absolute = 1, .relative = 0};
  return NetworkTolerance(expected, expected.dtype() == DType::kF32 ? precision : expected.dtype());
}

OutputCheck Check(const std::string& name, const Tensor& expected, const Tensor& actual, bool quantized,
                  const NetworkPrecision& precision) {
  OutputCheck check;
  check.name = name;
  if (quantized && IsFloat(expected.dtype())) {
    check.comparison = Compare(expected, actual, NetworkTolerance(expected));
    check.criterion = absl::StrFormat("cosine at least %g", kMinCosine);
    check.ok = check.comparison.type_mismatch.empty() && check.comparison.cosine >= kMinCosine;
    return check;
  }
  const Tolerance tolerance = ToleranceOf(expected, quantized, precision);
  if (quantized && IsInt(expected.dtype())) {
    check.criterion = "at most one step";
  } else if (IsFloat(expected.dtype())) {
    check.criterion =
        absl::StrFormat("absolute %.1e + relative %.0e", tolerance.absolute, tolerance.relative);
  } else {
    check.criterion = "equal";
  }
  check.comparison = Compare(expected, actual, tolerance);
  check.ok = check.comparison.ok();
  return check;
}

// Checks again against the f64 result, and additionally allows each element its rounding error. An element
// with an unknown rounding error is not allowed more.
OutputCheck CheckWithRounding(OutputCheck check, const OutputBounds& output, const Tensor& actual,
                              const Tolerance& tolerance) {
  Tensor bound(DType::kF64, output.bound.shape());
  const auto explained = output.bound.as<double>();
  double most = 0;
  for (size_t i = 0; i < explained.size(); ++i) {
    const double expected = std::fabs(output.expected.ToDouble(static_cast<int64_t>(i)));
    const double known = std::isfinite(explained[i]) ? explained[i] : 0;
    const double plain = tolerance.absolute + tolerance.relative * (std::isfinite(expected) ? expected : 0);
    bound.as_mutable<double>()[i] = plain + known;
    most = std::max(most, known);
  }
  check.comparison = Compare(output.expected, actual, bound);
  check.ok = check.comparison.ok();
  check.criterion += absl::StrFormat("; or what rounding explains, at most %.1e", most);
  return check;
}

// Repeats the checks that failed, until rounding explains the difference or cannot explain it.
absl::Status ExplainByRounding(const Graph& graph, const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& expected, const std::vector<NamedTensor>& actual,
                               const NetworkPrecision& precision, std::vector<OutputCheck>& checks) {
  ASSIGN_OR_RETURN(ErrorAnalysis analysis, ErrorAnalysis::Create(graph, inputs, expected, precision));
  const bool quantized = Quantizes(graph);
  const std::vector<OutputCheck> before = checks;
  int to_try = 1;
  for (int pairs = 0; pairs < to_try; ++pairs) {
    analysis.AddPair();
    const std::vector<OutputBounds> outputs = analysis.Outputs();
    to_try = 0;
    for (size_t i = 0; i < checks.size(); ++i) {
      if (before[i].ok || !before[i].comparison.type_mismatch.empty()) continue;
      checks[i] = CheckWithRounding(before[i], outputs[i], actual[i].tensor,
                                    ToleranceOf(expected[i], quantized, precision));
      if (!checks[i].ok) to_try = std::max(to_try, PairsToTry(checks[i].comparison));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool VerifyReport::ok() const {
  return std::all_of(outputs.begin(), outputs.end(), [](const OutputCheck& check) { return check.ok; });
}

std::vector<OutputCheck> CheckOutputs(const Graph& graph, const std::vector<Tensor>& expected,
                                      const std::vector<NamedTensor>& actual,
                                      const NetworkPrecision& precision) {
  const bool quantized = Quantizes(graph);
  std::vector<OutputCheck> checks;
  for (size_t i = 0; i < expected.size(); ++i) {
    checks.push_back(Check(graph.outputs()[i].name, expected[i], actual[i].tensor, quantized, precision));
  }
  return checks;
}

absl::StatusOr<VerifyReport> VerifyAgainstReference(const Graph& graph,
                                                    const std::vector<NamedTensor>& inputs,
                                                    const std::vector<NamedTensor>& actual,
                                                    const NetworkPrecision& precision) {
  std::vector<Tensor> ordered;
  for (const auto& input : graph.inputs()) {
    const auto found = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const NamedTensor& t) { return t.name == input->name(); });
    if (found == inputs.end()) return InvalidInput("input \"", input->name(), "\" has no value");
    ordered.push_back(found->tensor);
  }
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const std::vector<Tensor> expected, Interpreter().Run(graph, ordered));
  VerifyReport report;
  report.reference_seconds = watch.Seconds();
  if (expected.size() != actual.size()) {
    return InternalError("the compiled network has ", actual.size(), " outputs, the model ", expected.size());
  }
  report.outputs = CheckOutputs(graph, expected, actual, precision);
  if (!report.ok()) {
    RETURN_IF_ERROR(ExplainByRounding(graph, ordered, expected, actual, precision, report.outputs));
  }
  return report;
}

}  // namespace attune
