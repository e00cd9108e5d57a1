// The judgement of results by the spread of perturbed runs.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "reference/compare.h"
#include "rounding.h"

namespace attune::graph_fuzz {
namespace {

// Whether an operator passes on numbers that it is given, or rounds each once: any two compilers give the
// same bits.
bool KeepsBits(const Node& node) {
  switch (GetOpInfo(node.op()).category) {
    case OpCategory::kMovement:
    case OpCategory::kData:
      return true;
    case OpCategory::kUnary:
      return node.op() == Op::kNeg || node.op() == Op::kAbs || node.op() == Op::kRelu ||
             node.op() == Op::kCast || node.op() == Op::kSign || node.op() == Op::kFloor ||
             node.op() == Op::kCeil || node.op() == Op::kRound;
    default:
      return node.op() == Op::kMaxPool || node.op() == Op::kGather || node.op() == Op::kWhere ||
             node.op() == Op::kReduceMax || node.op() == Op::kReduceMin || node.op() == Op::kMax ||
             node.op() == Op::kMin;
  }
}

// The values computed from inputs and constants by such operators alone.
std::set<const Value*> ValuesWithoutErrors(const Graph& graph) {
  std::set<const Value*> exact;
  for (const auto& input : graph.inputs()) exact.insert(input.get());
  for (const auto& node : graph.nodes()) {
    if (!KeepsBits(*node)) continue;
    const auto is_exact = [&](const Value* input) { return input == nullptr || exact.contains(input); };
    if (!std::ranges::all_of(node->inputs(), is_exact)) continue;
    for (int i = 0; i < node->num_outputs(); ++i) exact.insert(node->output(i));
  }
  return exact;
}

// How much work is done to learn the effects of rounding. The first effort is enough for nearly all graphs.
struct Effort {
  int runs;
  double ulps;
  bool keeps_exact;
};
constexpr Effort kEfforts[] = {{4, 4, true}, {12, 16, true}, {40, 64, false}};
static_assert(std::size(kEfforts) == Judge::kMostEffort + 1);

// Compiled code may be off by this multiple of the runs' deviation.
constexpr double kFactor = 4;

// Near a pole of a tangent or a quotient, no number of runs tells how far errors may move a result. Such
// results move far, by half of their value or more.
bool IsBesidePole(double result, double spread) {
  constexpr double kFar = 8;
  return spread >= kFar && spread >= std::abs(result) / 2;
}

// The wider of two bounds per element; an infinite scalar if either bound leaves the shape undecided.
Tensor Wider(Tensor bound, const Tensor& other) {
  if (bound.shape() != other.shape()) return Tensor::Scalar(DType::kF64, HUGE_VAL);
  for (int64_t k = 0; k < bound.num_elements(); ++k)
    bound.SetDouble(k, std::max(bound.ToDouble(k), other.ToDouble(k)));
  return bound;
}

bool IsEqual(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

Judge::Judge(const Graph& graph, std::vector<Tensor> inputs, std::vector<Tensor> expected)
    : graph_(graph), inputs_(std::move(inputs)), expected_(std::move(expected)) {
  const std::set<const Value*> exact = ValuesWithoutErrors(graph);
  for (const auto& output : graph.outputs()) is_exact_.push_back(exact.contains(output.value));
  for (std::vector<Runs>& runs : runs_) runs.resize(std::size(kEfforts));
}

const Judge::Runs& Judge::RunsOf(DType precision, size_t effort) {
  Runs& runs = runs_[static_cast<size_t>(precision)][effort];
  if (runs.done) return runs;
  runs.done = true;
  const Effort& amount = kEfforts[effort];
  for (int i = 0; i < amount.runs; ++i) {
    // A run in which errors move an index out of range says nothing.
    auto outputs = RunPerturbed(
        graph_, inputs_, {.precision = precision, .ulps = amount.ulps, .keeps_exact = amount.keeps_exact},
        static_cast<uint64_t>(i) + 1);
    if (outputs.ok()) runs.outputs.push_back(*std::move(outputs));
  }
  return runs;
}

Tensor Judge::BoundOf(size_t i, DType precision, const Runs& runs) const {
  const Tensor& expected = expected_[i];
  for (const auto& outputs : runs.outputs) {
    if (outputs[i].shape() != expected.shape()) return Tensor::Scalar(DType::kF64, HUGE_VAL);
  }
  if (is_exact_[i] && precision == DType::kF32) return Tensor(DType::kF64, expected.shape());
  const bool narrowed = expected.dtype() == DType::kF32;
  const Tolerance tolerance = NetworkTolerance(expected, narrowed ? precision : expected.dtype());
  Tensor bound(DType::kF64, expected.shape());
  for (int64_t k = 0; k < expected.num_elements(); ++k) {
    const double b = expected.ToDouble(k);
    double spread = 0;
    for (const auto& outputs : runs.outputs) {
      const double moved = outputs[i].ToDouble(k);
      if (!IsEqual(moved, b))
        spread = std::max(spread, std::isfinite(moved - b) ? std::abs(moved - b) : HUGE_VAL);
    }
    bound.SetDouble(k, spread == HUGE_VAL || IsBesidePole(b, spread)
                           ? HUGE_VAL
                           : tolerance.absolute + tolerance.relative * std::abs(b) + kFactor * spread);
  }
  return bound;
}

std::string Judge::CompareOutput(size_t i, const Tensor& actual, const Tensor& bound) const {
  const Tensor& expected = expected_[i];
  if (actual.dtype() != expected.dtype()) return "has another dtype";
  if (bound.shape() != expected.shape()) return "";  // the shape of the output is undecided
  if (actual.shape() != expected.shape()) return "has another shape";
  int64_t wrong = 0, first = -1;
  for (int64_t k = 0; k < expected.num_elements(); ++k) {
    const double a = actual.ToDouble(k), b = expected.ToDouble(k), allowed = bound.ToDouble(k);
    if (IsEqual(a, b) || allowed == HUGE_VAL || std::abs(a - b) <= allowed) continue;
    if (wrong++ == 0) first = k;
  }
  if (wrong == 0) return "";
  return absl::StrCat("has ", wrong, " of ", expected.num_elements(), " elements wrong, the first [", first,
                      "]: ", actual.ToDouble(first), ", expected ", expected.ToDouble(first));
}

std::string Judge::Complaint(const std::vector<Tensor>& actual, DType precision) {
  if (actual.size() != expected_.size()) return absl::StrCat(actual.size(), " outputs");
  for (size_t i = 0; i < actual.size(); ++i) {
    std::string complaint;
    Tensor bound = BoundOf(i, precision, RunsOf(precision, 0));
    for (size_t effort = 0; effort < std::size(kEfforts); ++effort) {
      if (effort > 0) bound = Wider(std::move(bound), BoundOf(i, precision, RunsOf(precision, effort)));
      complaint = CompareOutput(i, actual[i], bound);
      if (complaint.empty()) break;
    }
    if (!complaint.empty()) return absl::StrCat("output \"", graph_.outputs()[i].name, "\" ", complaint);
  }
  return "";
}

std::vector<Tensor> Judge::Bounds(size_t effort) {
  std::vector<Tensor> bounds;
  for (size_t i = 0; i < expected_.size(); ++i) {
    Tensor widest = BoundOf(i, DType::kF32, RunsOf(DType::kF32, 0));
    for (size_t more = 1; more <= effort; ++more)
      widest = Wider(std::move(widest), BoundOf(i, DType::kF32, RunsOf(DType::kF32, more)));
    bounds.push_back(std::move(widest));
  }
  return bounds;
}

}  // namespace attune::graph_fuzz
