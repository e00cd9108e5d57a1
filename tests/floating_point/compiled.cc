#include "compiled.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "device/host.h"
#include "graph/text.h"
#include "plan/chooser.h"

namespace attune::floating_point {
namespace {

// Chooses one strategy wherever it applies, and elsewhere the one that always applies.
class Preference : public KernelChooser {
 public:
  explicit Preference(std::string_view strategy) : strategy_(FindStrategy(strategy)) {}

  absl::StatusOr<KernelChoice> Choose(const Workload& workload, const std::string& task,
                                      const Target& target) const override {
    if (strategy_ == nullptr) return AnalyticChooser().Choose(workload, task, target);
    const bool applies = strategy_->why_not(workload, target).empty();
    const Strategy* strategy = applies ? strategy_ : &AllStrategies().back();
    return KernelChoice{.strategy = strategy, .config = strategy->analytic_default(workload, target)};
  }
  double SecondsOf(const std::string&) const override { return 0; }

 private:
  const Strategy* strategy_;
};

}  // namespace

std::vector<Target> Targets() {
  const auto host = HostTarget();
  EXPECT_TRUE(host.ok()) << host.status();
  std::vector<Target> targets = {*host};
  if (host->vector_bits > 256) targets.push_back(*TargetByName("x86-64-v3"));
  return targets;
}

std::unique_ptr<Graph> Parse(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : std::make_unique<Graph>();
}

std::unique_ptr<Graph> Convolutions(const Shape& x, const std::vector<Tensor>& weights) {
  auto graph = std::make_unique<Graph>();
  Value* y = graph->AddInput("x", TensorType(DType::kF32, x));
  for (const Tensor& w : weights) {
    const auto node =
        graph->Add(Op::kConv, {y, graph->AddConstant(w, "w")}, {{"pads", Ints(4, w.shape().back() / 2)}});
    EXPECT_TRUE(node.ok()) << node.status();
    y = (*node)->output();
  }
  graph->AddOutput("y", y);
  return graph;
}

std::unique_ptr<Graph> Product(const Shape& x, const Tensor& columns) {
  auto graph = std::make_unique<Graph>();
  Value* rows = graph->AddInput("x", TensorType(DType::kF32, x));
  const auto node = graph->Add(Op::kMatMul, {rows, graph->AddConstant(columns, "w")});
  EXPECT_TRUE(node.ok()) << node.status();
  graph->AddOutput("y", (*node)->output());
  return graph;
}

Network Compiled(const Graph& graph, const Target& target, std::string_view strategy) {
  const Preference preference(strategy);
  CompileOptions options;
  options.target = target;
  options.jobs = 1;
  options.chooser = &preference;
  return Network::FromGraph(graph, "graph").Optimize().Compile(options);
}

std::vector<NamedTensor> Named(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < inputs.size(); ++i) named.push_back({graph.inputs()[i]->name(), inputs[i]});
  return named;
}

std::vector<Tensor> RunCompiled(const Graph& graph, const std::vector<Tensor>& inputs, const Target& target,
                                std::string_view strategy) {
  const auto outputs = Compiled(graph, target, strategy).Run(Named(graph, inputs), 1);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<Tensor> tensors;
  if (outputs.ok()) {
    for (const NamedTensor& output : *outputs) tensors.push_back(output.tensor);
  }
  return tensors;
}

Tensor RandomTensor(const Shape& shape, uint64_t seed, double low, double high) {
  Tensor tensor(DType::kF32, shape);
  Random random(seed);
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    tensor.SetDouble(i, low + (high - low) * random.Uniform());
  return tensor;
}

Tensor Repeated(const Shape& shape, std::span<const double> values, DType dtype) {
  Tensor tensor(dtype, shape);
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    tensor.SetDouble(i, values[static_cast<size_t>(i) % values.size()]);
  return tensor;
}

}  // namespace attune::floating_point
