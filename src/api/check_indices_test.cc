// Indices out of range, from the graph to the end of a run: each operator, constant and data, of both types,
// at and beyond both ends of the range, judged by the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/network.h"
#include "base/random.h"
#include "graph/index_bounds.h"
#include "graph/text.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Shape kData = {4, 5};

// How the operator reads indices of a shape from a tensor of shape `data`.
struct Reader {
  Op op;
  Shape indices;
  Attributes attrs;
  Shape updates = {};      // of a scatter, after the indices
  Shape regions = {};      // of RoiAlign, before the indices
  std::string taken = "";  // behind the reader's name in messages
  Shape data = kData;
};

std::vector<Reader> Readers() {
  return {{Op::kGather, {3}, {{"axis", int64_t{1}}}, {}},
          {Op::kGather, {}, {{"axis", int64_t{0}}}, {}},
          {Op::kGatherElements, {4, 3}, {{"axis", int64_t{1}}}, {}},
          {Op::kGatherNd, {3, 2}, {}, {}},
          {Op::kGatherNd, {4, 2, 1}, {{"batch_dims", int64_t{1}}}, {}},
          {.op = Op::kReverseSequence,
           .indices = {4},
           .attrs = {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}},
           .taken = ", lengths up to 5"},
          {.op = Op::kReverseSequence,
           .indices = {5},
           .attrs = {{"batch_axis", int64_t{1}}, {"time_axis", int64_t{0}}},
           .taken = ", lengths up to 4"},
          {.op = Op::kRoiAlign,
           .indices = {3},
           .attrs = {{"height", int64_t{2}}, {"width", int64_t{2}}, {"sampling_ratio", int64_t{1}}},
           .regions = {3, 4},
           .data = {2, 1, 3, 3}},
          {Op::kScatterElements, {4, 3}, {{"axis", int64_t{1}}, {"reduction", std::string("add")}}, {4, 3}},
          {Op::kScatterNd, {3, 2}, {{"reduction", std::string("add")}}, {3}},
          {Op::kScatterNd, {3, 1}, {{"reduction", std::string("add")}}, {3, 5}}};
}

Tensor RandomFloats(const Shape& shape) { return *RandomTensor(DType::kF32, shape, 1, kRandomLimit); }

// A graph of one reader, whose indices are an input, or these if they are given.
std::unique_ptr<Graph> GraphOf(const Reader& reader, DType dtype, const Tensor* constant) {
  auto graph = std::make_unique<Graph>("reader");
  std::vector<Value*> inputs = {graph->AddInput("x", TensorType(DType::kF32, reader.data))};
  if (!reader.regions.empty()) inputs.push_back(graph->AddConstant(RandomFloats(reader.regions)));
  inputs.push_back(constant == nullptr ? graph->AddInput("i", TensorType(dtype, reader.indices))
                                       : graph->AddConstant(*constant));
  if (!reader.updates.empty()) inputs.push_back(graph->AddConstant(RandomFloats(reader.updates)));
  graph->AddOutput("y", (*graph->Add(reader.op, inputs, reader.attrs, "words"))->output());
  return graph;
}

// Indices in range, but for element `at`, which is `past` past the end of its axis (0: the first beyond), or,
// negative, before the least index (-1: the last one before).
struct Indices {
  Tensor tensor;
  int64_t value = 0, size = 0;  // of element `at`
};
Indices Draw(const Graph& graph, DType dtype, const Shape& shape, int64_t at, int64_t past, Random& random) {
  const Node& node = *graph.nodes().back();
  const IndexBounds bounds = IndexOperandOf(node)->bounds;
  Indices indices{Tensor(dtype, shape)};
  for (int64_t k = 0; k < indices.tensor.num_elements(); ++k) {
    const int64_t size = bounds.Size(k);
    int64_t value = random.Integer(bounds.Least(size), size - 1);
    if (k == at) {
      value = past < 0 ? past + bounds.Least(size) : past + size;
      indices.value = value;
      indices.size = size;
    }
    indices.tensor.SetInt(k, value);
  }
  return indices;
}

// Beyond either end, by one and by much.
const int64_t kPast[] = {0, -1, 1000, -1000, INT32_MAX - 10, INT32_MIN + 10};

std::string ErrorText(const Reader& reader, const Indices& indices) {
  return absl::StrCat(OpName(reader.op), " \"words\"", reader.taken, ": index ", indices.value,
                      " is outside an axis of size ", indices.size);
}

void ExpectSame(const Network& network, const Graph& graph, const std::vector<NamedTensor>& inputs) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& input : inputs) tensors.push_back(input.tensor);
  const auto expected = Interpreter().Run(graph, tensors);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto actual = network.Run(inputs, 1);
  ASSERT_TRUE(actual.ok()) << actual.status();
  for (int64_t k = 0; k < (*expected)[0].num_elements(); ++k)
    EXPECT_NEAR((*actual)[0].tensor.ToDouble(k), (*expected)[0].ToDouble(k), 1e-5);
}

TEST(CheckIndicesTest, DataOutOfRangeEndsTheRun) {
  Random random(1);
  for (const Reader& reader : Readers()) {
    for (const DType dtype : {DType::kI32, DType::kI64}) {
      const std::unique_ptr<Graph> graph = GraphOf(reader, dtype, nullptr);
      const Network network = Network::FromGraph(*graph, "reader").Optimize().Compile();
      ASSERT_TRUE(network.status().ok()) << network.status();
      const Tensor x = RandomFloats(reader.data);
      const int64_t count = TensorType(dtype, reader.indices).num_elements();
      for (const int64_t past : kPast) {
        const Indices wrong = Draw(*graph, dtype, reader.indices, random.Integer(0, count - 1), past, random);
        EXPECT_FALSE(Interpreter().Run(*graph, {x, wrong.tensor}).ok());
        const absl::Status end = network.Run({{"x", x}, {"i", wrong.tensor}}, 1).status();
        EXPECT_TRUE(absl::IsInvalidArgument(end));
        EXPECT_THAT(std::string(end.message()), HasSubstr(ErrorText(reader, wrong)));
        const Indices right = Draw(*graph, dtype, reader.indices, -1, 0, random);
        ExpectSame(network, *graph, {{"x", x}, {"i", right.tensor}});
      }
    }
  }
}

TEST(CheckIndicesTest, AConstantOutOfRangeIsAnErrorOfCompiling) {
  Random random(2);
  for (const Reader& reader : Readers()) {
    for (const DType dtype : {DType::kI32, DType::kI64}) {
      const std::unique_ptr<Graph> open = GraphOf(reader, dtype, nullptr);
      const int64_t count = TensorType(dtype, reader.indices).num_elements();
      for (const int64_t past : kPast) {
        const Indices wrong = Draw(*open, dtype, reader.indices, random.Integer(0, count - 1), past, random);
        const std::unique_ptr<Graph> graph = GraphOf(reader, dtype, &wrong.tensor);
        const absl::Status end = Network::FromGraph(*graph, "reader").Optimize().status();
        EXPECT_THAT(std::string(end.message()), HasSubstr(ErrorText(reader, wrong)));
        // Without Optimize(), each operator is compiled by itself.
        if (past == 0) EXPECT_FALSE(Network::FromGraph(*graph, "reader").Compile().status().ok());
      }
      const Indices right = Draw(*open, dtype, reader.indices, -1, 0, random);
      const std::unique_ptr<Graph> graph = GraphOf(reader, dtype, &right.tensor);
      ExpectSame(Network::FromGraph(*graph, "reader").Optimize().Compile(), *graph,
                 {{"x", RandomFloats(reader.data)}});
    }
  }
}

TEST(CheckIndicesTest, UncheckedIndicesAreClampedAndTheArtifactSaysSo) {
  const Reader reader = Readers()[1];
  const std::unique_ptr<Graph> graph = GraphOf(reader, DType::kI64, nullptr);
  PassPlan plan = DefaultPlan();
  SetUncheckedIndices(plan);
  const Network unchecked = Network::FromGraph(*graph, "reader").Optimize(plan).Compile();
  const Tensor x = RandomFloats(kData);
  for (const auto& [index, row] : {std::pair<int64_t, int64_t>{9, 3}, {-9, 0}}) {
    const auto outputs = unchecked.Run({{"x", x}, {"i", Tensor::FromInts(Ints{index}).Reshaped({})}}, 1);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (int64_t k = 0; k < 5; ++k) EXPECT_EQ((*outputs)[0].tensor.ToDouble(k), x.ToDouble(row * 5 + k));
  }
  EXPECT_TRUE(unchecked.Describe()->has_unchecked_indices());
  EXPECT_FALSE(Network::FromGraph(*graph, "reader").Optimize().Compile().Describe()->has_unchecked_indices());
}

// A plan from a file may be older than the check.
TEST(CheckIndicesTest, APlanWithoutTheCheckGetsIt) {
  const std::unique_ptr<Graph> graph = GraphOf(Readers()[1], DType::kI64, nullptr);
  const Network network = Network::FromGraph(*graph, "reader").Optimize({.steps = {{"fuse", {}}}}).Compile();
  EXPECT_FALSE(
      network.Run({{"x", RandomFloats(kData)}, {"i", Tensor::FromInts(Ints{9}).Reshaped({})}}, 1).ok());
}

Network Compiled(std::string_view text) {
  const auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return Network::FromGraph(**graph, "text").Optimize().Compile();
}

Tensor Number(int64_t value, DType dtype = DType::kI64) {
  return Tensor::FromInts(Ints{value}, dtype).Reshaped({});
}

std::string EndOf(const Network& network, const std::vector<NamedTensor>& inputs, int threads = 1) {
  return std::string(network.Run(inputs, threads).status().message());
}

TEST(CheckIndicesTest, InALoop) {
  const Network network = Compiled(R"(graph @g(%x: f32[4], %n: i64[], %t: bool[], %s: f32[]) {
  %y, %z = loop(%n, %t, %s, %x) {
    graph(%i: i64[], %c: bool[], %v: f32[], %u: f32[4]) {
      %e = gather(%u, %i) {axis = 0} @"picked" : f32[]
      %w = add(%v, %e) : f32[]
      return "": %c, "": %w, "": %u
    }
  } : f32[], f32[4]
  return "y": %y
})");
  const auto inputs = [](int64_t trips) {
    return std::vector<NamedTensor>{{"x", Tensor::FromFloats(std::vector<float>{1, 2, 3, 4}, {4})},
                                    {"n", Number(trips)},
                                    {"t", Number(1, DType::kBool)},
                                    {"s", Tensor(DType::kF32, {})}};
  };
  EXPECT_THAT(EndOf(network, inputs(5)),
              HasSubstr("gather \"picked\": index 4 is outside an axis of size 4"));
  EXPECT_EQ((*network.Run(inputs(4), 2))[0].tensor.ToDouble(0), 10);
}

TEST(CheckIndicesTest, InABranchThatRuns) {
  const Network network = Compiled(R"(graph @g(%x: f32[4], %i: i32[2], %t: bool[]) {
  %y = if(%t, %x, %i) {
    graph(%u: f32[4], %j: i32[2]) {
      %a = gather(%u, %j) {axis = 0} @"taken" : f32[2]
      return "": %a
    }
    graph(%u: f32[4], %j: i32[2]) {
      %c = constant() {value = i64[2]<0, 7>} : i64[2]
      %a = gather(%u, %c) {axis = 0} @"constant" : f32[2]
      return "": %a
    }
  } : f32[2]
  return "y": %y
})");
  const auto inputs = [](bool taken, int64_t index) {
    return std::vector<NamedTensor>{{"x", Tensor(DType::kF32, {4})},
                                    {"i", Tensor::FromInts(Ints{0, index}, DType::kI32)},
                                    {"t", Number(taken, DType::kBool)}};
  };
  EXPECT_EQ(EndOf(network, inputs(true, 3)), "");
  EXPECT_THAT(EndOf(network, inputs(true, 4)), HasSubstr("gather \"taken\": index 4 is outside"));
  EXPECT_THAT(EndOf(network, inputs(false, 0)), HasSubstr("gather \"constant\": index 7 is outside"));
}

// A check reads only the elements that are there, not the rest of a dynamic dimension's bound.
TEST(CheckIndicesTest, OfADynamicSize) {
  const Network network = Compiled(R"(graph @g(%x: f32[4], %table: f32[3]) {
  %n = non_zero(%x) : i64[1,d<=4]
  %one = constant() {value = i64[]<1>} : i64[]
  %m = sub(%n, %one) : i64[1,d<=4]
  %c = check_index(%m) {negative = 0, reader = "gather \"next\"", sizes = [3]} : i64[1,d<=4]
  %y = gather(%table, %c) {axis = 0} : f32[1,d<=4]
  return "y": %y
})");
  const Tensor table = Tensor::FromFloats(std::vector<float>{5, 6, 7}, {3});
  const auto run = [&](std::vector<float> x) {
    return network.Run({{"x", Tensor::FromFloats(x, {4})}, {"table", table}}, 1);
  };
  EXPECT_EQ(std::string(run({1, 0, 0, 1}).status().message()),
            "text: gather \"next\": index -1 is outside an axis of size 3");
  const auto outputs = run({0, 1, 0, 1});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT((*outputs)[0].tensor.shape(), ElementsAre(1, 2));
  EXPECT_EQ((*outputs)[0].tensor.ToDouble(1), 7);
}

TEST(CheckIndicesTest, SessionsEndApart) {
  const std::unique_ptr<Graph> graph = GraphOf(Readers()[0], DType::kI64, nullptr);
  const Network network = Network::FromGraph(*graph, "reader").Optimize().Compile();
  std::vector<std::thread> callers;
  std::vector<int> wrong(4, 0);
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      const int64_t index = caller % 2 == 0 ? 1 : 5;
      const std::vector<NamedTensor> inputs = {{"x", RandomFloats(kData)},
                                               {"i", Tensor::FromInts(Ints{0, index, 2})}};
      absl::StatusOr<Session> session = network.NewSession(2, inputs);
      for (int round = 0; round < 50; ++round)
        wrong[static_cast<size_t>(caller)] += !session.ok() || session->Run().ok() != (index == 1);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

// Random inputs are indices in range, whatever reads them.
TEST(CheckIndicesTest, RandomInputsAreInRange) {
  for (const Reader& reader : Readers()) {
    const std::unique_ptr<Graph> graph = GraphOf(reader, DType::kI64, nullptr);
    const auto report = Network::FromGraph(*graph, "reader").Optimize().Compile().Verify();
    ASSERT_TRUE(report.ok()) << report.status();
  }
}

}  // namespace
}  // namespace attune
