// Shared by the tests of kernels: makes tensors in one line, and evaluates a single operator.
#ifndef ATTUNE_REFERENCE_EVALUATE_FOR_TEST_H_
#define ATTUNE_REFERENCE_EVALUATE_FOR_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "graph/graph.h"
#include "reference/interpreter.h"
#include "reference/values.h"

namespace attune::reference {

// A tensor of `values`, converted to `dtype`.
inline Tensor Make(DType dtype, Shape shape, const std::vector<double>& values) {
  Tensor tensor(dtype, std::move(shape));
  EXPECT_EQ(tensor.num_elements(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) tensor.SetDouble(static_cast<int64_t>(i), values[i]);
  return tensor;
}
inline Tensor F32(Shape shape, const std::vector<double>& values) {
  return Make(DType::kF32, std::move(shape), values);
}
inline Tensor I64(Shape shape, const std::vector<double>& values) {
  return Make(DType::kI64, std::move(shape), values);
}

// 0, 1, 2, … as f32.
inline Tensor Iota(Shape shape) {
  Tensor tensor(DType::kF32, std::move(shape));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.SetDouble(i, static_cast<double>(i));
  return tensor;
}

// Normally distributed numbers.
inline Tensor RandomF32(Shape shape, uint64_t seed, double mean = 0, double deviation = 1) {
  Random random(seed);
  Tensor tensor(DType::kF32, std::move(shape));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.SetDouble(i, mean + deviation * random.Normal());
  return tensor;
}

// A graph with one node, whose inputs have the types of `inputs`; Tensor() stands for an absent input.
struct OneNode {
  Graph graph;
  Node* node = nullptr;

  OneNode(Op op, const std::vector<Tensor>& inputs, Attributes attrs, int num_outputs = -1) {
    std::vector<Value*> values;
    for (const Tensor& input : inputs) {
      const bool present = input.data() != nullptr;
      const std::string name = "x" + std::to_string(values.size());
      values.push_back(present ? graph.AddInput(name, TensorType(input.dtype(), input.shape())) : nullptr);
    }
    absl::StatusOr<Node*> added = graph.Add(op, values, std::move(attrs), "", nullptr, {}, num_outputs);
    EXPECT_TRUE(added.ok()) << added.status();
    if (added.ok()) node = *added;
  }
};

inline std::vector<Tensor> EvaluateAll(Op op, std::vector<Tensor> inputs, Attributes attrs = {},
                                       int num_outputs = -1) {
  const OneNode one(op, inputs, std::move(attrs), num_outputs);
  if (one.node == nullptr) return {};
  inputs.resize(static_cast<size_t>(one.node->num_inputs()));
  absl::StatusOr<std::vector<Tensor>> outputs = EvaluateNode(*one.node, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *outputs : std::vector<Tensor>();
}

// The first output; an empty tensor after a failure, which is reported to the test.
inline Tensor Evaluate(Op op, std::vector<Tensor> inputs, Attributes attrs = {}) {
  std::vector<Tensor> outputs = EvaluateAll(op, std::move(inputs), std::move(attrs));
  return outputs.empty() ? Tensor() : outputs[0];
}

// The status of evaluating a node that type inference accepts.
inline absl::Status EvaluateStatus(Op op, const std::vector<Tensor>& inputs, Attributes attrs = {}) {
  const OneNode one(op, inputs, std::move(attrs));
  return one.node == nullptr ? absl::OkStatus() : EvaluateNode(*one.node, inputs).status();
}

inline std::vector<double> Doubles(const Tensor& tensor) { return Load<double>(tensor); }

// Matches a tensor with these elements, within `error`; NaN equals NaN.
inline auto Has(const std::vector<double>& expected, double error = 0) {
  using ::testing::NanSensitiveDoubleNear;
  std::vector<::testing::Matcher<double>> matchers;
  for (const double value : expected) {
    matchers.push_back(error == 0 ? ::testing::Matcher<double>(::testing::NanSensitiveDoubleEq(value))
                                  : ::testing::Matcher<double>(NanSensitiveDoubleNear(value, error)));
  }
  return ::testing::ResultOf("elements", Doubles, ::testing::ElementsAreArray(matchers));
}

inline auto HasShape(Shape shape) {
  return ::testing::ResultOf(
      "shape", [](const Tensor& tensor) { return tensor.shape(); }, ::testing::Eq(shape));
}

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_EVALUATE_FOR_TEST_H_
