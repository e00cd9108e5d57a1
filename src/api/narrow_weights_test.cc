// Kernels that read weights in 16 bits give the same results as with 32 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "api/network.h"
#include "base/float16.h"
#include "base/random.h"
#include "device/host.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

// f32 numbers that the 16-bit type can represent.
Tensor Weights(const Shape& shape, DType dtype) {
  Random random(1);
  Tensor weights(DType::kF32, shape);
  for (float& number : weights.as_mutable<float>()) {
    const auto drawn = static_cast<float>(random.Normal());
    number = dtype == DType::kF16    ? F16ToFloat(FloatToF16(drawn))
             : dtype == DType::kBF16 ? BF16ToFloat(FloatToBF16(drawn))
                                     : drawn;
  }
  return weights;
}

// Relu(x · w), where x is f32[rows,128].
std::unique_ptr<Graph> Product(int64_t rows, DType dtype) {
  auto graph = std::make_unique<Graph>("product");
  Value* x = graph->AddInput("x", TensorType(DType::kF32, Shape{rows, 128}));
  Value* w = graph->AddConstant(Weights({128, 200}, dtype), "w");
  graph->AddOutput("y", graph->Make(Op::kRelu, {graph->Make(Op::kMatMul, {x, w})}));
  return graph;
}

std::unique_ptr<Graph> PointwiseConvolution(DType dtype) {
  auto graph = std::make_unique<Graph>("convolution");
  Value* x = graph->AddInput("x", TensorType(DType::kF32, Shape{1, 96, 1, 1}));
  Value* w = graph->AddConstant(Weights({160, 96, 1, 1}, dtype), "w");
  graph->AddOutput("y", graph->Make(Op::kConv, {x, w}));
  return graph;
}

std::unique_ptr<Graph> Table(DType dtype) {
  auto graph = std::make_unique<Graph>("table");
  Value* rows = graph->AddInput("rows", TensorType(DType::kI64, Shape{7}));
  Value* table = graph->AddConstant(Weights({100, 36}, dtype), "table");
  graph->AddOutput("y", graph->Make(Op::kGather, {table, rows}, {{"axis", int64_t{0}}}));
  return graph;
}

// Compiled for this machine, but with caches of this size.
Network Compiled(const Graph& graph, int64_t l2_bytes) {
  CompileOptions options;
  options.target = *HostTarget();
  options.target.l2_bytes = l2_bytes;
  options.target.l3_bytes = 2 * l2_bytes;
  options.target.dram_bytes_per_cycle = 1;
  return Network::FromGraph(graph, "model.onnx").Optimize().Compile(options);
}

Network WithSlowMemory(const Graph& graph) { return Compiled(graph, 1 << 12); }
Network WithLargeCaches(const Graph& graph) { return Compiled(graph, 1 << 30); }

// Whether any kernel reads a tensor of this type.
bool Reads(const Network& network, DType dtype) {
  const absl::StatusOr<NetworkDescription> description = network.Describe();
  EXPECT_TRUE(description.ok()) << description.status();
  return std::ranges::any_of(description->variant().kernels, [&](const KernelInfo& kernel) {
    return kernel.op != "prepack" &&
           std::ranges::any_of(kernel.interface.operands, [&](const OperandInfo& operand) {
             return operand.dtype == static_cast<uint8_t>(dtype) && !operand.is_written;
           });
  });
}

void ExpectTheSameFromHalfTheBytes(const Graph& graph, DType dtype) {
  const Network narrow = WithSlowMemory(graph);
  EXPECT_TRUE(Reads(narrow, dtype)) << graph.name();
  int64_t bytes = 0;
  for (const auto& node : graph.nodes())
    bytes += node->op() == Op::kConstant ? node->output()->constant()->num_bytes() : 0;
  // Half of the bytes, and what blocks pad.
  EXPECT_LT(narrow.Describe()->stored_constant_bytes, static_cast<uint64_t>(bytes) * 2 / 3);
  const absl::StatusOr<VerifyReport> report = narrow.Verify();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok());
}

TEST(NarrowWeightsTest, FewRowsReadThem) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    ExpectTheSameFromHalfTheBytes(*Product(1, dtype), dtype);
    ExpectTheSameFromHalfTheBytes(*Product(3, dtype), dtype);
    ExpectTheSameFromHalfTheBytes(*PointwiseConvolution(dtype), dtype);
  }
}

TEST(NarrowWeightsTest, TablesAreRead) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    ExpectTheSameFromHalfTheBytes(*Table(dtype), dtype);
    const Network network = WithSlowMemory(*Table(dtype));
    const std::vector<NamedTensor> inputs = *network.Complete({}, 1);
    const Tensor expected = Interpreter().Run(*Table(dtype), {inputs[0].tensor})->front();
    EXPECT_TRUE(network.Run(inputs, 1)->front().tensor.Identical(expected));
  }
}

TEST(NarrowWeightsTest, NotWhereNothingWaitsForThem) {
  EXPECT_FALSE(Reads(WithSlowMemory(*Product(200, DType::kF16)), DType::kF16));
  EXPECT_FALSE(Reads(WithLargeCaches(*Product(1, DType::kF16)), DType::kF16));
}

TEST(NarrowWeightsTest, NotWhere16BitsDoNotHoldThem) {
  for (const DType dtype : {DType::kF16, DType::kBF16})
    EXPECT_FALSE(Reads(WithSlowMemory(*Product(1, DType::kF32)), dtype));
}

TEST(NarrowWeightsTest, RoundedWeightsAreSuch) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    PassPlan plan = DefaultPlan();
    ASSERT_TRUE(SetWeights(plan, dtype).ok());
    CompileOptions options;
    options.target = *HostTarget();
    options.target.l2_bytes = 1 << 12;
    options.target.dram_bytes_per_cycle = options.target.l3_bytes_per_cycle = 1;
    options.compress_constants = true;
    const Network network =
        Network::FromGraph(*Product(1, DType::kF32), "model.onnx").Optimize(plan).Compile(options);
    EXPECT_TRUE(Reads(network, dtype));
    const absl::StatusOr<VerifyReport> report = network.Verify();
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->ok());
  }
}

}  // namespace
}  // namespace attune
