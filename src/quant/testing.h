// Shared by the tests of quantization: small networks with random weights, and samples for them.
#ifndef ATTUNE_QUANT_TESTING_H_
#define ATTUNE_QUANT_TESTING_H_

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "quant/calibration.h"
#include "quant/quantize.h"
#include "reference/interpreter.h"

namespace attune::quant {

// Standard normal numbers, scaled by `size`.
inline Tensor RandomNumbers(const Shape& shape, uint64_t seed, double size = 1) {
  Tensor tensor(DType::kF32, shape);
  Random random(seed);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.SetDouble(i, size * random.Normal());
  return tensor;
}

// Builds networks whose layers have names.
class TestNetwork {
 public:
  Graph& graph() { return graph_; }
  Value* Input(const Shape& shape) {
    return graph_.AddInput(absl::StrCat("x", graph_.inputs().size()), TensorType(DType::kF32, shape));
  }
  void Output(Value* value) { graph_.AddOutput(absl::StrCat("y", graph_.outputs().size()), value); }

  Value* Add(Op op, std::vector<Value*> inputs, Attributes attributes = {}, const std::string& name = "") {
    absl::StatusOr<Node*> node = graph_.Add(op, std::move(inputs), std::move(attributes), name);
    EXPECT_TRUE(node.ok()) << node.status();
    return (*node)->output();
  }
  Value* Constant(Tensor tensor) { return graph_.AddConstant(std::move(tensor)); }

  // 3 x 3, padded to keep the size of the feature map; random weights and bias.
  Value* Conv(Value* x, int64_t channels, const std::string& name, int64_t group = 1) {
    const int64_t inputs = x->type().shape()[1] / group;
    const double size = std::sqrt(2.0 / (9.0 * static_cast<double>(inputs)));
    Value* w = Constant(RandomNumbers({channels, inputs, 3, 3}, ++seed_, size));
    Value* b = Constant(RandomNumbers({channels}, ++seed_, 0.1));
    return Add(Op::kConv, {x, w, b}, {{"pads", Ints{1, 1, 1, 1}}, {"group", group}}, name);
  }
  // Along the last axis, with a bias.
  Value* Dense(Value* x, int64_t units, const std::string& name) {
    const int64_t inputs = x->type().shape().back();
    const double size = 1 / std::sqrt(static_cast<double>(inputs));
    Value* w = Constant(RandomNumbers({inputs, units}, ++seed_, size));
    Value* b = Constant(RandomNumbers({units}, ++seed_, 0.1));
    return Add(Op::kAdd, {Add(Op::kMatMul, {x, w}, {}, name), b});
  }
  Value* Relu(Value* x) { return Add(Op::kRelu, {x}); }

 private:
  Graph graph_{"network"};
  uint64_t seed_ = 0;
};

// Convolutions with a residual sum and pools, and a classifier. Layers: "stem", "inner", "outer" and
// "classes".
inline std::unique_ptr<Graph> SmallClassifier() {
  TestNetwork n;
  Value* stem = n.Relu(n.Conv(n.Input({1, 3, 8, 8}), 8, "stem"));
  Value* pool = n.Add(Op::kMaxPool, {stem}, {{"kernel", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  Value* inner = n.Relu(n.Conv(pool, 8, "inner"));
  Value* sum = n.Relu(n.Add(Op::kAdd, {n.Conv(inner, 8, "outer"), pool}));
  Value* mean = n.Add(Op::kReduceMean, {sum}, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{0}}});
  n.Output(n.Dense(mean, 5, "classes"));
  return n.graph().Clone();
}

inline std::vector<Sample> RandomSamples(const Graph& graph, int count, uint64_t seed = 1000) {
  std::vector<Sample> samples(static_cast<size_t>(count));
  for (Sample& sample : samples) {
    for (const auto& input : graph.inputs()) sample.push_back(RandomNumbers(input->type().shape(), ++seed));
  }
  return samples;
}

// Every layer at `precision`, with the ranges from the samples.
inline QuantizationPlan CalibratedPlan(const Graph& graph, const std::vector<Sample>& samples,
                                       Precision precision = Precision::kInt8,
                                       RangeMethod method = RangeMethod::kMinMax) {
  CalibrationOptions options;
  options.method = method;
  const auto histograms = Observe(graph, samples, Interpreter(), options);
  EXPECT_TRUE(histograms.ok()) << histograms.status();
  QuantizationPlan plan = UniformPlan(graph, precision);
  if (histograms.ok()) plan.ranges = ChooseRanges(*histograms, options);
  return plan;
}

// Quantizes the graph, and expects that the result is valid.
inline std::unique_ptr<Graph> QuantizeOrFail(const Graph& graph, const QuantizationPlan& plan) {
  absl::StatusOr<std::unique_ptr<Graph>> quantized = Quantize(graph, plan);
  EXPECT_TRUE(quantized.ok()) << quantized.status();
  if (!quantized.ok()) return graph.Clone();
  EXPECT_TRUE(Verify(**quantized).ok()) << Verify(**quantized) << Print(**quantized);
  return *std::move(quantized);
}

inline Sample RunReference(const Graph& graph, const Sample& inputs) {
  absl::StatusOr<Sample> outputs = Interpreter().Run(graph, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *std::move(outputs) : Sample();
}

inline int CountOps(const Graph& graph, Op op) {
  int count = 0;
  for (const auto& node : graph.nodes()) {
    count += node->op() == op;
    for (int i = 0; i < node->num_regions(); ++i) count += CountOps(node->region(i), op);
  }
  return count;
}

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_TESTING_H_
