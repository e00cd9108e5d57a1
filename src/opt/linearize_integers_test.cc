// Requantized sums and products of bytes, before and after the pass, for every byte there is.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "opt/testing.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

// y = requantize(…) of feature maps [256, channels, 256]: all pairs of bytes, for each channel.
class BytesGraph {
 public:
  explicit BytesGraph(int64_t channels, DType dtype) : channels_(channels), dtype_(dtype) {}

  Value* Map() {
    return graph_.AddInput(absl::StrCat("x", graph_.inputs().size()),
                           TensorType(dtype_, Shape{256, channels_, 256}));
  }
  Value* Scalar(DType dtype, double number) { return graph_.AddConstant(Tensor::Scalar(dtype, number)); }
  Value* Constant(Tensor tensor) { return graph_.AddConstant(std::move(tensor)); }
  Value* Make(Op op, std::vector<Value*> inputs, Attributes attributes = {}) {
    return graph_.Make(op, std::move(inputs), std::move(attributes));
  }
  Value* Centered(Value* map, int64_t zero) {
    Value* wide = Make(Op::kCast, {map}, {{"to", DType::kI32}});
    return Make(Op::kSub, {wide, Scalar(DType::kI32, static_cast<double>(zero))});
  }
  Value* Requantized(Value* sum, double scale, DType to, double zero) {
    std::vector<Value*> inputs = {sum, Scalar(DType::kF64, scale)};
    if (to != DType::kI32) inputs.push_back(Scalar(to, zero));
    return Make(Op::kRequantize, std::move(inputs), {{"to", to}, {"rounding", std::string("fixed_point")}});
  }

  // Whether the pass replaces the requantization. Expects the same results.
  bool IsLinearized(Value* result) {
    graph_.AddOutput("y", result);
    const std::vector<Tensor> inputs = Inputs();
    const std::vector<Tensor> expected = Run(inputs);
    const auto reports = RunPlan(graph_, {.steps = {{"linearize_integers", {}}, {"dead_code", {}}}});
    EXPECT_TRUE(reports.ok()) << reports.status();
    EXPECT_TRUE(Run(inputs)[0].Identical(expected[0]));
    for (const auto& node : graph_.nodes()) {
      if (node->op() == Op::kRequantize) return false;
    }
    return true;
  }

 private:
  std::vector<Tensor> Inputs() const {
    const int64_t low = dtype_ == DType::kI8 ? -128 : 0;
    std::vector<Tensor> inputs;
    for (size_t map = 0; map < graph_.inputs().size(); ++map) {
      Tensor& tensor = inputs.emplace_back(dtype_, Shape{256, channels_, 256});
      for (int64_t i = 0; i < tensor.num_elements(); ++i)
        tensor.SetDouble(i, static_cast<double>(low + (map == 0 ? i / (channels_ * 256) : i % 256)));
    }
    return inputs;
  }
  std::vector<Tensor> Run(const std::vector<Tensor>& inputs) const {
    const auto outputs = Interpreter().Run(graph_, inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return *outputs;
  }

  Graph graph_{"bytes"};
  int64_t channels_;
  DType dtype_;
};

TEST(LinearizeIntegers, SumsOfTwoMapsComeOutTheSame) {
  Random random(1);
  int linearized = 0;
  constexpr int kSums = 12;
  for (int i = 0; i < kSums; ++i) {
    const DType dtype = i % 2 == 0 ? DType::kI8 : DType::kU8;
    BytesGraph g(1, dtype);
    const auto term = [&](double factor) {
      Value* centered = g.Centered(g.Map(), random.Integer(0, 100));
      return g.Requantized(g.Make(Op::kMul, {centered, g.Scalar(DType::kI32, 1 << 20)}), factor, DType::kI32,
                           0);
    };
    Value* first = term(0.5);
    Value* sum = g.Make(i % 3 == 0 ? Op::kSub : Op::kAdd, {first, term(0.1 + 0.4 * random.Uniform())});
    linearized += g.IsLinearized(g.Requantized(sum, (0.5 + random.Uniform()) / (1 << 20), dtype, 7));
  }
  EXPECT_EQ(linearized, kSums);
}

TEST(LinearizeIntegers, ProductsWithAConstantForEachChannelComeOutTheSame) {
  Random random(2);
  int linearized = 0;
  for (int i = 0; i < 12; ++i) {
    BytesGraph g(3, DType::kI8);
    Tensor factors(DType::kI32, {3, 1});
    for (int64_t c = 0; c < 3; ++c) factors.SetDouble(c, static_cast<double>(random.Integer(-127, 127)));
    Value* product = g.Make(Op::kMul, {g.Centered(g.Map(), 3), g.Constant(std::move(factors))});
    linearized += g.IsLinearized(g.Requantized(product, 0.01 * (0.2 + random.Uniform()), DType::kI8, -5));
  }
  // Others round in ways that no line does.
  EXPECT_GE(linearized, 2);
}

TEST(LinearizeIntegers, OtherIntegersAreLeftAlone) {
  BytesGraph g(1, DType::kU8);
  Value *x = g.Centered(g.Map(), 1), *y = g.Centered(g.Map(), 2);
  EXPECT_FALSE(g.IsLinearized(g.Requantized(g.Make(Op::kMul, {x, y}), 0.003, DType::kU8, 0)));
}

}  // namespace
}  // namespace attune
