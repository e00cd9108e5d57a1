#include "api/verify.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "reference/convert_floats.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

constexpr double kMinCosine = 0.999;

// Compiled code, which accumulates in the type that it computes in and rounds elsewhere, may move an output
// by this many times what rounding moves the reference.
constexpr double kRoundingFactor = 4;

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

// `rounding`: how far rounding moves the reference, where that is known.
OutputCheck Check(const std::string& name, const Tensor& expected, const Tensor& actual, bool quantized,
                  double rounding, DType precision) {
  OutputCheck check;
  check.name = name;
  if (quantized && IsFloat(expected.dtype())) {
    check.comparison = Compare(expected, actual, NetworkTolerance(expected));
    check.criterion = absl::StrFormat("cosine at least %g", kMinCosine);
    check.ok = check.comparison.type_mismatch.empty() && check.comparison.cosine >= kMinCosine;
    return check;
  }
  const bool narrowed = expected.dtype() == DType::kF32 && precision != DType::kF32;
  Tolerance tolerance = NetworkTolerance(expected, narrowed ? precision : expected.dtype());
  if (quantized && IsInt(expected.dtype())) {
    tolerance = {.absolute = 1, .relative = 0};
    check.criterion = "at most one step";
  } else if (IsFloat(expected.dtype())) {
    check.criterion =
        absl::StrFormat("absolute %.1e + relative %.0e", tolerance.absolute, tolerance.relative);
    if (rounding > 0) {
      absl::StrAppendFormat(&check.criterion, " + %.0f × %.1e, what rounding moves the reference",
                            kRoundingFactor, rounding);
      tolerance.absolute += kRoundingFactor * rounding;
    }
  } else {
    check.criterion = "equal";
  }
  check.comparison = Compare(expected, actual, tolerance);
  check.ok = check.comparison.ok();
  return check;
}

// The largest difference between an output of the reference and what it would be with all floats of
// `precision`, output by output. Differences that are not finite, as where f16 overflows, do not count.
absl::StatusOr<std::vector<double>> MeasureRounding(const Graph& graph, const std::vector<Tensor>& inputs,
                                                    const std::vector<Tensor>& expected, DType precision) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> converted, ConvertFloats(graph, precision));
  std::vector<Tensor> converted_inputs;
  for (const Tensor& input : inputs) {
    ASSIGN_OR_RETURN(converted_inputs.emplace_back(), ConvertFloats(input, precision));
  }
  ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, Interpreter().Run(*converted, converted_inputs));
  std::vector<double> moved;
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSIGN_OR_RETURN(const Tensor a, ConvertFloats(outputs[i], DType::kF64));
    ASSIGN_OR_RETURN(const Tensor b, ConvertFloats(expected[i], DType::kF64));
    moved.push_back(Compare(a, b, Tolerance()).max_absolute_error);
  }
  return moved;
}

}  // namespace

bool VerifyReport::ok() const {
  return std::all_of(outputs.begin(), outputs.end(), [](const OutputCheck& check) { return check.ok; });
}

std::vector<OutputCheck> CheckOutputs(const Graph& graph, const std::vector<Tensor>& expected,
                                      const std::vector<NamedTensor>& actual,
                                      const std::vector<double>& rounding, DType precision) {
  const bool quantized = Quantizes(graph);
  std::vector<OutputCheck> checks;
  for (size_t i = 0; i < expected.size(); ++i) {
    checks.push_back(Check(graph.outputs()[i].name, expected[i], actual[i].tensor, quantized,
                           rounding.empty() ? 0 : rounding[i], precision));
  }
  return checks;
}

absl::StatusOr<VerifyReport> VerifyAgainstReference(const Graph& graph,
                                                    const std::vector<NamedTensor>& inputs,
                                                    const std::vector<NamedTensor>& actual, DType precision) {
  std::vector<Tensor> ordered;
  for (const auto& input : graph.inputs()) {
    const auto found = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const NamedTensor& t) { return t.name == input->name(); });
    if (found == inputs.end()) return InvalidInput("input \"", input->name(), "\" has no value");
    ordered.push_back(found->tensor);
  }
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const std::vector<Tensor> expected, Interpreter().Run(graph, ordered));
  VerifyReport report;
  report.reference_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (expected.size() != actual.size()) {
    return InternalError("the compiled network has ", actual.size(), " outputs, the model ", expected.size());
  }
  report.outputs = CheckOutputs(graph, expected, actual, {}, precision);
  if (!report.ok()) {
    const DType measured = precision == DType::kF32 ? DType::kF64 : precision;
    const auto rounding = MeasureRounding(graph, ordered, expected, measured);
    // Where a float becomes an index, a narrow type may make it a wrong one: then nothing is known.
    if (!rounding.ok() && measured == DType::kF64) return rounding.status();
    if (rounding.ok()) report.outputs = CheckOutputs(graph, expected, actual, *rounding, precision);
  }
  return report;
}

}  // namespace attune
