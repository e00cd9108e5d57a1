// The passes over quantized networks: cases in text, and random networks, whose results must stay within a
// few steps of their integers.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "graph/verify.h"
#include "opt/rewrite.h"
#include "opt/testing.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

TEST(SinkDequantize, MovementTakesTheIntegers) {
  ExpectRewrite("sink_dequantize", R"(graph @g(%x: u8[1,2,3]) {
    %s = constant() {value = f32[]<0.5>} : f32[]
    %z = constant() {value = u8[]<3>} : u8[]
    %d = dequantize(%x, %s, %z) : f32[1,2,3]
    %t = transpose(%d) {perm = [0, 2, 1]} @"t" : f32[1,3,2]
    return "out": %t
  })",
                R"(graph @g(%x: u8[1,2,3]) {
    %s = constant() {value = f32[]<0.5>} : f32[]
    %z = constant() {value = u8[]<3>} : u8[]
    %0 = transpose(%x) {perm = [0, 2, 1]} @"t" : u8[1,3,2]
    %t = dequantize(%0, %s, %z) @"t" : f32[1,3,2]
    return "out": %t
  })");
}

TEST(SinkDequantize, TheSameParametersCancel) {
  ExpectRewrite("sink_dequantize\ndead_code", R"(graph @g(%x: u8[1,1,2,2]) {
    %s = constant() {value = f32[]<0.5>} : f32[]
    %z = constant() {value = u8[]<3>} : u8[]
    %d = dequantize(%x, %s, %z) : f32[1,1,2,2]
    %p = max_pool(%d) {kernel = [2, 2]} @"p" : f32[1,1,1,1]
    %q = quantize(%p, %s, %z) {to = u8} : u8[1,1,1,1]
    return "out": %q
  })",
                R"(graph @g(%x: u8[1,1,2,2]) {
    %q = max_pool(%x) {kernel = [2, 2]} @"p" : u8[1,1,1,1]
    return "out": %q
  })");
}

TEST(IntegerProducts, ScalesMultiplyTheSum) {
  ExpectRewrite("integer_products\ndead_code", R"(graph @g(%x: u8[2,4]) {
    %w = constant() {value = i8[4,1]<1, 2, 3, 4>} : i8[4,1]
    %s = constant() {value = f32[]<0.5>} : f32[]
    %t = constant() {value = f32[]<0.25>} : f32[]
    %d = dequantize(%x, %s) : f32[2,4]
    %e = dequantize(%w, %t) : f32[4,1]
    %y = matmul(%d, %e) @"m" : f32[2,1]
    return "out": %y
  })",
                R"(graph @g(%x: u8[2,4]) {
    %w = constant() {value = i8[4,1]<1, 2, 3, 4>} : i8[4,1]
    %0 = matmul_integer(%x, %w) @"m" : i32[2,1]
    %1 = constant() {value = f32[]<0.125>} @"m" : f32[]
    %y = dequantize(%0, %1) @"m" : f32[2,1]
    return "out": %y
  })");
}

TEST(IntegerProducts, OtherWeightsBecomeFloats) {
  ExpectRewrite("integer_products\ndead_code", R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = i8[2,1]<1, 2>} : i8[2,1]
    %t = constant() {value = f32[]<0.25>} : f32[]
    %e = dequantize(%w, %t) @"w" : f32[2,1]
    %y = matmul(%x, %e) : f32[2,1]
    return "out": %y
  })",
                R"(graph @g(%x: f32[2,2]) {
    %e = constant() {value = f32[2,1]<0.25, 0.5>} @"w" : f32[2,1]
    %y = matmul(%x, %e) : f32[2,1]
    return "out": %y
  })");
}

// Along each of the 2^60 ways to the first sum, it would take forever.
TEST(FoldScales, SharedSumsAreLookedAtOnce) {
  Graph graph("sums");
  Value* x = graph.AddInput("x", TensorType(DType::kU8, Shape{1, 4}));
  Value* fine = graph.AddConstant(Tensor::Scalar(DType::kF32, 0.5));
  Value* coarse = graph.AddConstant(Tensor::Scalar(DType::kF32, 0x1p60));
  Value* sum = graph.Make(Op::kDequantize, {x, fine});
  for (int i = 0; i < 60; ++i) sum = graph.Make(Op::kAdd, {sum, sum});
  graph.AddOutput("y", graph.Make(Op::kQuantize, {sum, coarse}, {{"to", DType::kU8}}));
  const std::vector<Tensor> inputs = {FromDoubles(DType::kU8, {1, 4}, std::vector<double>{0, 2, 7, 255})};
  const auto expected = Interpreter().Run(graph, inputs);
  const auto reports = RunPlan(graph, *ParsePassPlan("fold_scales"));
  ASSERT_TRUE(reports.ok() && reports->front().changed) << reports.status();
  EXPECT_LT(graph.nodes().size(), 200u);
  const auto actual = Interpreter().Run(graph, inputs);
  ASSERT_TRUE(expected.ok() && actual.ok());
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(actual->front().ToDouble(i), expected->front().ToDouble(i));
}

// Grows networks as converters leave them: every value is quantized and dequantized again.
class QuantizedNetwork {
 public:
  explicit QuantizedNetwork(uint64_t seed) : random_(seed) {
    const Shape shape = {1, Integer(1, 6), Integer(3, 7), Integer(3, 7)};
    maps_.push_back(Requantized(graph_.AddInput("x", TensorType(DType::kF32, shape))));
    const int64_t size = Integer(1, 6);
    for (int64_t i = 0; i < size; ++i) AddLayer();
    graph_.AddOutput("out", maps_.back()->producer()->input(0));
  }

  Graph& graph() { return graph_; }
  std::vector<Tensor> Inputs() { return {RandomTensor(graph_.inputs()[0]->type().shape(), 2)}; }

 private:
  int64_t Integer(int64_t low, int64_t high) { return random_.Integer(low, high); }

  Tensor RandomTensor(const Shape& shape, double size) {
    Tensor tensor(DType::kF32, shape);
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      tensor.SetDouble(i, size * (2 * random_.Uniform() - 1));
    return tensor;
  }

  Tensor RandomIntegers(DType dtype, const Shape& shape) {
    Tensor tensor(dtype, shape);
    const int64_t low = dtype == DType::kI8 ? -128 : 0;
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      tensor.SetDouble(i, static_cast<double>(Integer(low, low + 255)));
    return tensor;
  }

  Value* Scalar(DType dtype, double number) { return graph_.AddConstant(Tensor::Scalar(dtype, number)); }

  // Rounded to about 8 bits of what random weights give.
  Value* Requantized(Value* x, double range = 4) {
    const DType to = Integer(0, 1) == 0 ? DType::kU8 : DType::kI8;
    const double zero = static_cast<double>(to == DType::kU8 ? Integer(0, 255) : Integer(-128, 127));
    const bool is_symmetric = Integer(0, 2) == 0;
    Value* scale = Scalar(DType::kF32, range / 128 * (0.5 + random_.Uniform()));
    Value* point = Scalar(to, is_symmetric ? 0 : zero);
    const std::string rounding = Integer(0, 1) == 0 ? "half_even" : "half_away";
    Value* quantized = graph_.Make(Op::kQuantize, {x, scale, point}, {{"to", to}, {"rounding", rounding}});
    return graph_.Make(Op::kDequantize, {quantized, scale, point});
  }

  // As integers that are rounded twice, or once in double.
  Value* RequantizedSum(Value* sum, int64_t outputs) {
    const DType to = Integer(0, 1) == 0 ? DType::kU8 : DType::kI8;
    Tensor scales(DType::kF64, Integer(0, 1) == 0 ? Shape{} : Shape{outputs});
    for (int64_t i = 0; i < scales.num_elements(); ++i)
      scales.SetDouble(i, 0.01 * (0.01 + random_.Uniform()));
    const int64_t low = to == DType::kU8 ? 0 : -128;
    Value* zero = Scalar(to, static_cast<double>(Integer(low, low + 255)));
    const std::string rounding = Integer(0, 1) == 0 ? "fixed_point" : "half_away";
    Value* y = graph_.Make(Op::kRequantize, {sum, graph_.AddConstant(scales), zero},
                           {{"to", to}, {"rounding", rounding}});
    if (Integer(0, 1) == 0) {
      y = graph_.Make(Op::kClip, {y},
                      {{"min", ExactNumber(static_cast<double>(low + 20))},
                       {"max", ExactNumber(static_cast<double>(low + 220))}});
    }
    return graph_.Make(Op::kDequantize, {y, Scalar(DType::kF32, 0.03), zero});
  }

  // The sum of two quantized feature maps as TensorFlow Lite has it: of both in fixed point.
  Value* FixedPointSum(Value* x, Value* y) {
    const auto to_sum = [&](Value* value, double factor) {
      return graph_.Make(Op::kRequantize, {value, Scalar(DType::kF64, factor)},
                         {{"to", DType::kI32}, {"rounding", std::string("fixed_point")}});
    };
    const auto term = [&](Value* map, double factor) {
      const Node* dequantize = map->producer();
      Value* wide = graph_.Make(Op::kCast, {dequantize->input(0)}, {{"to", DType::kI32}});
      const double zero = dequantize->input(2)->constant()->ToDouble(0);
      Value* centered = graph_.Make(Op::kSub, {wide, Scalar(DType::kI32, zero)});
      return to_sum(graph_.Make(Op::kMul, {centered, Scalar(DType::kI32, 1 << 20)}), factor);
    };
    Value* sum = graph_.Make(Op::kAdd, {term(x, 0.5), term(y, 0.1 + 0.4 * random_.Uniform())});
    Value* zero = Scalar(DType::kI8, static_cast<double>(Integer(-128, 127)));
    Value* result =
        graph_.Make(Op::kRequantize, {sum, Scalar(DType::kF64, (0.5 + random_.Uniform()) / (1 << 20)), zero},
                    {{"to", DType::kI8}, {"rounding", std::string("fixed_point")}});
    return graph_.Make(Op::kDequantize, {result, Scalar(DType::kF32, 0.03), zero});
  }

  void AddIntegerConv() {
    Value* quantized = Requantized(maps_.back())->producer()->input(0);
    Value* zero = quantized->producer()->input(2);
    const Shape shape = quantized->type().shape();
    const int64_t outputs = Integer(1, 6), k = Integer(1, 3), pad = Integer(0, 1);
    Value* w = graph_.AddConstant(RandomIntegers(DType::kI8, {outputs, shape[1], k, k}));
    Value* sum = graph_.Make(Op::kConvInteger, {quantized, w, zero}, {{"pads", Ints{pad, pad, pad, pad}}});
    Tensor bias(DType::kI32, {outputs, 1, 1});
    for (int64_t i = 0; i < outputs; ++i) bias.SetDouble(i, static_cast<double>(Integer(-9000, 9000)));
    sum = graph_.Make(Op::kAdd, {sum, graph_.AddConstant(bias)});
    maps_.push_back(RequantizedSum(sum, outputs));
  }

  Value* Weights(const Shape& shape) {
    const DType dtype = Integer(0, 2) == 0 ? DType::kU8 : DType::kI8;
    Value* integers = graph_.AddConstant(RandomIntegers(dtype, shape));
    const bool by_channel = Integer(0, 1) == 0;
    const Shape parameters = by_channel ? Shape{shape[0]} : Shape{};
    Tensor scales(DType::kF32, parameters);
    for (int64_t i = 0; i < scales.num_elements(); ++i) scales.SetDouble(i, 0.01 * (0.1 + random_.Uniform()));
    std::vector<Value*> inputs = {integers, graph_.AddConstant(scales)};
    if (dtype == DType::kU8 || Integer(0, 3) == 0)
      inputs.push_back(graph_.AddConstant(RandomIntegers(dtype, parameters)));
    return graph_.Make(Op::kDequantize, std::move(inputs), {{"axis", int64_t{0}}});
  }

  Value* Activated(Value* x) {
    switch (Integer(0, 2)) {
      case 0:
        return graph_.Make(Op::kRelu, {x});
      case 1:
        return graph_.Make(Op::kClip, {x}, {{"min", ExactNumber(0.0)}, {"max", ExactNumber(6.0)}});
      default:
        return x;
    }
  }

  void AddConv() {
    Value* x = maps_.back();
    const Shape shape = x->type().shape();
    const bool depthwise = Integer(0, 2) == 0;
    const int64_t outputs = depthwise ? shape[1] : Integer(1, 6), k = Integer(1, 3), pad = Integer(0, 1);
    Value* w = Weights({outputs, depthwise ? 1 : shape[1], k, k});
    Value* bias = Integer(0, 1) == 0 ? nullptr : graph_.AddConstant(RandomTensor({outputs}, 1));
    Value* y = graph_.Make(Op::kConv, {x, w, bias},
                           {{"pads", Ints{pad, pad, pad, pad}}, {"group", depthwise ? shape[1] : 1}});
    maps_.push_back(Requantized(Activated(y), 8));
  }

  void AddLayer() {
    Value* x = maps_.back();
    const Shape shape = x->type().shape();
    if (shape[2] < 3 || shape[3] < 3) return;
    switch (Integer(0, 8)) {
      case 7:
      case 8:
        return AddIntegerConv();
      case 0:
        maps_.push_back(graph_.Make(Op::kMaxPool, {x}, {{"kernel", Ints{2, 2}}, {"strides", Ints{1, 1}}}));
        return maps_.push_back(Requantized(maps_.back()));
      case 1:
        maps_.push_back(graph_.Make(Op::kPad, {x}, {{"pads", Ints{0, 0, 1, 1, 0, 0, 1, 1}}}));
        return maps_.push_back(Requantized(maps_.back()));
      case 2: {
        for (Value* other : maps_) {
          if (other == x || other->type() != x->type()) continue;
          const bool are_quantized =
              other->producer()->op() == Op::kDequantize && x->producer()->op() == Op::kDequantize;
          if (are_quantized && Integer(0, 1) == 0) return maps_.push_back(FixedPointSum(x, other));
          return maps_.push_back(Requantized(Activated(graph_.Make(Op::kAdd, {x, other}))));
        }
        return AddConv();
      }
      default:
        return AddConv();
    }
  }

  Random random_;
  Graph graph_{"quantized"};
  std::vector<Value*> maps_;  // dequantized
};

TEST(QuantizedNetworks, StayWhatTheyComputeToOneStep) {
  PassPlan plan = DefaultPlan();
  int64_t elements = 0, steps = 0, products = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    QuantizedNetwork network(seed);
    ASSERT_TRUE(Verify(network.graph()).ok()) << Verify(network.graph());
    const std::vector<Tensor> inputs = network.Inputs();
    const auto expected = Interpreter().Run(network.graph(), inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const std::unique_ptr<Graph> graph = network.graph().Clone();
    const auto reports = RunPlan(*graph, plan);
    ASSERT_TRUE(reports.ok()) << reports.status();
    const auto actual = Interpreter().Run(*graph, inputs);
    ASSERT_TRUE(actual.ok()) << actual.status();
    ASSERT_EQ(actual->front().dtype(), expected->front().dtype());
    for (int64_t i = 0; i < expected->front().num_elements(); ++i) {
      const double error = std::abs(expected->front().ToDouble(i) - actual->front().ToDouble(i));
      ++elements;
      steps += error != 0;
      // A step of difference in one layer is several steps where a later scale is finer.
      ASSERT_LE(error, 4) << "element " << i << "\n" << Print(*graph);
    }
    const auto count = [&](const auto& self, const Graph& g) -> void {
      for (const auto& node : g.nodes()) {
        for (int r = 0; r < node->num_regions(); ++r) self(self, node->region(r));
        EXPECT_NE(node->op(), Op::kConv) << Print(*graph);
        EXPECT_NE(node->op(), Op::kDequantize) << Print(*graph);
        if (node->op() != Op::kConvInteger) continue;
        ++products;
        EXPECT_EQ(node->input(0)->type().dtype, DType::kU8);
        EXPECT_EQ(node->input(1)->type().dtype, DType::kI8);
        EXPECT_EQ(node->num_inputs(), 2) << Print(*graph);
      }
    };
    count(count, *graph);
    if (HasFailure()) break;
  }
  EXPECT_GT(products, 300);
  EXPECT_LT(static_cast<double>(steps), 0.02 * static_cast<double>(elements));
}

}  // namespace
}  // namespace attune
