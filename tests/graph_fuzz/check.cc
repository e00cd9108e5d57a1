#include "check.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/network.h"
#include "api/quantize.h"
#include "base/status.h"
#include "facts.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "random_chooser.h"
#include "reference/interpreter.h"
#include "spoiled.h"

namespace attune::graph_fuzz {
namespace {

using Precision = Setting::Precision;

Verdict Fail(Failure failure, std::string_view message) { return {failure, std::string(message), {}, {}}; }

Verdict FromStatus(const absl::Status& status) {
  const bool refused = absl::IsUnimplemented(status);
  return Fail(refused ? Failure::kRefused : Failure::kError, status.message());
}

// The same elements in reverse order: other data of the same range.
Tensor Reversed(const Tensor& tensor) {
  Tensor result(tensor.dtype(), tensor.shape());
  const auto size = static_cast<size_t>(DTypeSize(tensor.dtype()));
  const auto count = static_cast<size_t>(tensor.num_elements());
  for (size_t i = 0; i < count; ++i)
    std::memcpy(result.mutable_data() + i * size, tensor.data() + (count - 1 - i) * size, size);
  return result;
}

absl::StatusOr<std::vector<Tensor>> RunOnce(Session& session, const Graph& graph,
                                            const std::vector<Tensor>& inputs) {
  RETURN_IF_ERROR(session.SetInputs(NamedInputs(graph, inputs)));
  RETURN_IF_ERROR(session.Run());
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs, session.Outputs());
  std::vector<Tensor> tensors;
  for (const NamedTensor& output : outputs) tensors.push_back(output.tensor);
  return tensors;
}

bool AreIdentical(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) { return x.Identical(y); });
}

std::set<std::string> StrategiesOf(const Network& network) {
  std::set<std::string> names;
  const auto description = network.Describe();
  if (!description.ok()) return names;
  for (const KernelInfo& kernel : description->variant().kernels)
    names.insert(std::string(kernel.strategy.substr(0, kernel.strategy.find(' '))));
  return names;
}

absl::StatusOr<PassPlan> PlanOf(const Setting& setting) {
  PassPlan plan = setting.plan;
  if (setting.precision == Precision::kBF16) RETURN_IF_ERROR(SetBF16(plan));
  if (setting.precision == Precision::kF16Weights) RETURN_IF_ERROR(SetWeights(plan, DType::kF16));
  if (setting.precision == Precision::kBF16x3) {
    RETURN_IF_ERROR(SetBF16x3(plan));
    for (PassStep& step : plan.steps) {
      if (step.pass == "split_products") step.parameters["min_uses"] = 1;  // graphs are as small as these
    }
  }
  return plan;
}

DType RoundingOf(Precision precision) {
  switch (precision) {
    case Precision::kBF16:
      return DType::kBF16;
    case Precision::kF16Weights:
    case Precision::kBF16x3:  // which errs less, and not only in the weights
      return DType::kF16;
    default:
      return DType::kF32;
  }
}

constexpr uint64_t kSpoilingSeed = 1;

// The text of the optimized graph.
std::string OptimizedText(const Network& network) {
  const auto description = network.Describe();
  return description.ok() ? description->program().graph_summary : "";
}

// Checks that a constant index out of range is an error, of compiling or, in a region, of the run.
Verdict CheckSpoiledConstant(const RandomCase& random, const PassPlan& plan, const CompileOptions& options) {
  const std::optional<SpoiledCase> spoiled = SpoilConstant(random, kSpoilingSeed);
  if (!spoiled.has_value()) return {};
  const Graph& graph = *spoiled->random.graph;
  OptimizeOptions optimize;
  optimize.measure = false;
  const Network network = Network::FromGraph(graph, "graph").Optimize(plan, optimize).Compile(options);
  const absl::Status end = network.Run(NamedInputs(graph, spoiled->random.inputs), 1).status();
  const std::string wrong = Complaint(*spoiled, OptimizedText(network), end);
  return wrong.empty() ? Verdict() : Fail(Failure::kError, wrong);
}

Verdict CheckRuns(const RandomCase& random, const Setting& setting, const Network& network, Judge& judge) {
  const Graph& graph = *random.graph;
  absl::StatusOr<Session> session = network.NewSession(setting.threads, NamedInputs(graph, random.inputs));
  if (!session.ok()) return FromStatus(session.status());
  const auto actual = RunOnce(*session, graph, random.inputs);
  if (!actual.ok()) return FromStatus(actual.status());
  const std::string complaint = judge.Complaint(*actual, RoundingOf(setting.precision));
  if (!complaint.empty()) return Fail(Failure::kWrong, complaint);
  const std::string broken =
      setting.precision == Precision::kF32 ? BrokenFact(graph, *actual) : std::string();
  if (!broken.empty()) return Fail(Failure::kFact, broken);
  if (!setting.twice) return {};
  std::vector<Tensor> others;
  for (const Tensor& input : random.inputs) others.push_back(Reversed(input));
  // The results for the other inputs do not matter; the next run shows whether this one left something
  // behind. In another order, an index may be out of range.
  const absl::Status ran = RunOnce(*session, graph, others).status();
  if (!ran.ok() && Interpreter().Run(graph, others).ok()) return FromStatus(ran);
  if (const auto spoiled = SpoilInput(random, kSpoilingSeed); spoiled.has_value()) {
    const absl::Status end = RunOnce(*session, graph, spoiled->random.inputs).status();
    const std::string wrong = Complaint(*spoiled, OptimizedText(network), end);
    if (!wrong.empty()) return Fail(Failure::kError, wrong);
  }
  const auto again = RunOnce(*session, graph, random.inputs);
  if (!again.ok()) return FromStatus(again.status());
  if (!AreIdentical(*actual, *again)) return Fail(Failure::kBytes, "a second run gives other results");
  return {};
}

// For int8: the graph is quantized by its own inputs, and the result is judged like any other graph.
Verdict CheckQuantized(const RandomCase& random, const Setting& setting) {
  const Interpreter interpreter;
  QuantizeOptions options;
  options.executor = &interpreter;
  const auto quantized = QuantizeGraph(*random.graph, {NamedInputs(*random.graph, random.inputs)}, options);
  if (!quantized.ok()) {
    // There is nothing to quantize, or an input cannot be calibrated with.
    return absl::IsInternal(quantized.status()) ? FromStatus(quantized.status()) : Verdict();
  }
  RandomCase integers{quantized->graph->Clone(), random.inputs};
  std::vector<Tensor> expected;
  const Verdict reference = CheckReference(integers, &expected);
  if (!reference.ok()) return reference;
  Judge judge(*integers.graph, integers.inputs, std::move(expected));
  Setting plain = setting;
  plain.precision = Precision::kF32;
  return Check(integers, plain, judge);
}

}  // namespace

std::string_view NameOf(Failure failure) {
  constexpr std::string_view kNames[] = {"right", "refused", "reference", "error",
                                         "wrong", "fact",    "bytes",     "crash"};
  return kNames[static_cast<size_t>(failure)];
}

std::vector<NamedTensor> NamedInputs(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < inputs.size(); ++i) named.push_back({graph.inputs()[i]->name(), inputs[i]});
  return named;
}

absl::StatusOr<std::vector<NamedTensor>> RunCompiled(const Graph& graph,
                                                     const std::vector<NamedTensor>& inputs) {
  OptimizeOptions optimize;
  optimize.measure = false;
  CompileOptions compile;
  compile.jobs = 1;
  const Network network =
      Network::FromGraph(graph, "graph").Optimize(DefaultPlan(), optimize).Compile(compile);
  RETURN_IF_ERROR(network.status());
  ASSIGN_OR_RETURN(Session session, network.NewSession(1, inputs));
  RETURN_IF_ERROR(session.Run());
  return session.Outputs();
}

Verdict CheckReference(const RandomCase& random, std::vector<Tensor>* expected) {
  if (const absl::Status status = Verify(*random.graph); !status.ok())
    return Fail(Failure::kReference, absl::StrCat("verify: ", std::string(status.message())));
  const std::string text = Print(*random.graph);
  const auto parsed = ParseGraph(text);
  if (!parsed.ok())
    return Fail(Failure::kReference, absl::StrCat("parse: ", std::string(parsed.status().message())));
  if (Print(**parsed) != text) return Fail(Failure::kReference, "its text reads back as another graph");
  absl::StatusOr<std::vector<Tensor>> outputs = Interpreter().Run(*random.graph, random.inputs);
  if (!outputs.ok()) return Fail(Failure::kReference, outputs.status().message());
  const std::string broken = BrokenFact(*random.graph, *outputs);
  if (!broken.empty()) return Fail(Failure::kReference, broken);
  *expected = *std::move(outputs);
  return {};
}

Verdict Check(const RandomCase& random, const Setting& setting, Judge& judge) {
  if (setting.precision == Precision::kInt8) return CheckQuantized(random, setting);
  const absl::StatusOr<PassPlan> plan = PlanOf(setting);
  if (!plan.ok()) return FromStatus(plan.status());
  absl::StatusOr<Target> target = TargetOf(setting);
  if (!target.ok()) return FromStatus(target.status());
  const RandomChooser chooser(setting.schedules);
  CompileOptions options;
  options.target = *target;
  options.compress_constants = setting.compact;
  if (setting.shared && target->name != "x86-64-v3")
    options.more_targets.push_back(*TargetByName("x86-64-v3"));
  options.jobs = 1;
  if (setting.schedules != 0) options.chooser = &chooser;
  OptimizeOptions optimize;
  optimize.measure = false;
  const Network optimized = Network::FromGraph(*random.graph, "graph").Optimize(*plan, optimize);
  const Network network = optimized.Compile(options);
  if (!network.status().ok()) return FromStatus(network.status());
  if (setting.twice && optimized.Compile(options).artifact() != network.artifact())
    return Fail(Failure::kBytes, "compiled again it is another artifact");
  if (!RunsHere(*target)) return {};
  Verdict verdict = CheckRuns(random, setting, network, judge);
  if (verdict.ok() && setting.twice) verdict = CheckSpoiledConstant(random, *plan, options);
  verdict.strategies = StrategiesOf(network);
  verdict.instructions = {target->Has("avx512f") ? "AVX-512" : "AVX2"};
  return verdict;
}

Verdict CheckAll(const RandomCase& random, const std::vector<Setting>& settings, Setting* failed) {
  std::vector<Tensor> expected;
  Verdict verdict = CheckReference(random, &expected);
  if (!verdict.ok()) return verdict;
  Judge judge(*random.graph, random.inputs, std::move(expected));
  std::set<std::string> strategies, instructions;
  for (const Setting& setting : settings) {
    Verdict next = Check(random, setting, judge);
    strategies.insert(next.strategies.begin(), next.strategies.end());
    instructions.insert(next.instructions.begin(), next.instructions.end());
    if (next.failure != Failure::kNone) verdict = std::move(next);
    if (!verdict.ok()) {
      if (failed != nullptr) *failed = setting;
      break;
    }
  }
  verdict.strategies = std::move(strategies);
  verdict.instructions = std::move(instructions);
  return verdict;
}

}  // namespace attune::graph_fuzz
