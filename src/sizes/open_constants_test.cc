#include "sizes/open_constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "sizes/limits.h"
#include "sizes/same_graphs.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// The network of these texts, "$n" in which stands for each of the points.
struct Network {
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<Graph*> same;
  OpenSizes open;
};

Network At(std::string text) {
  Network network;
  network.open.dims = {{.name = "n", .min = 1, .max = MostOpenSize(1), .likely = 7}};
  network.open.points = *PointsFor(network.open.dims);
  for (const SizePoint& point : network.open.points) {
    std::string own = text;
    for (size_t at = 0; (at = own.find("$n", at)) != std::string::npos;)
      own.replace(at, 2, absl::StrCat(point[0]));
    auto graph = ParseGraph(own);
    EXPECT_TRUE(graph.ok()) << graph.status() << own;
    network.same.push_back(network.graphs.emplace_back(*std::move(graph)).get());
  }
  return network;
}

void AddConstants(Network& network, const std::function<Tensor(int64_t n)>& make) {
  for (size_t i = 0; i < network.same.size(); ++i) {
    Graph& graph = *network.same[i];
    graph.AddOutput("c", graph.AddConstant(make(network.open.points[i][0]), "positions"));
  }
}

Tensor Count(int64_t n) {
  Tensor counted(DType::kI64, {n});
  for (int64_t i = 0; i < n; ++i) counted.SetInt(i, 3 + 2 * i);
  return counted;
}

TEST(OpenConstants, PositionsBecomeAnIota) {
  Network network = At("graph @g(%x: f32[$n]) { return \"y\": %x }");
  AddConstants(network, Count);
  ASSERT_TRUE(OpenConstants(network.same).ok());
  for (size_t i = 0; i < network.same.size(); ++i) {
    const Graph& graph = *network.same[i];
    ASSERT_TRUE(Verify(graph).ok());
    const Node& iota = *graph.outputs()[1].value->producer();
    ASSERT_EQ(iota.op(), Op::kIota);
    EXPECT_EQ(iota.attrs().IntList("shape"), Ints{network.open.points[i][0]});
    EXPECT_EQ(iota.attrs().Int("start"), 3);
    EXPECT_EQ(iota.attrs().IntList("steps"), Ints{2});
  }
}

TEST(OpenConstants, AMaskOfOneNumberIsABroadcast) {
  Network network = At("graph @g(%x: f32[$n]) { return \"y\": %x }");
  AddConstants(network, [](int64_t n) {
    Tensor mask(DType::kF32, {1, n});
    for (int64_t i = 0; i < n; ++i) mask.SetDouble(i, 0.5);
    return mask;
  });
  ASSERT_TRUE(OpenConstants(network.same).ok());
  EXPECT_EQ(network.same[0]->outputs()[1].value->producer()->op(), Op::kBroadcast);
}

TEST(OpenConstants, AListOfSizesIsAConcatOfThem) {
  Network network = At("graph @g(%x: f32[$n]) { return \"y\": %x }");
  AddConstants(network, [](int64_t n) {
    Tensor shape(DType::kI64, {3});
    for (int64_t i = 0; i < 3; ++i) shape.SetInt(i, Ints{n, 4, 8 * n}[i]);
    return shape;
  });
  ASSERT_TRUE(OpenConstants(network.same).ok());
  for (size_t i = 0; i < network.same.size(); ++i) {
    ASSERT_TRUE(Verify(*network.same[i]).ok());
    const Node& list = *network.same[i]->outputs()[1].value->producer();
    ASSERT_EQ(list.op(), Op::kConcat);
    EXPECT_EQ(list.input(2)->producer()->attrs().Int("start"), 8 * network.open.points[i][0]);
  }
}

TEST(OpenConstants, OtherValuesAtEachSizeAreAnError) {
  Network network = At("graph @g(%x: f32[$n]) { return \"y\": %x }");
  AddConstants(network, [](int64_t n) {
    Tensor table(DType::kI64, {n});
    for (int64_t i = 0; i < n; ++i) table.SetInt(i, i * i % n);
    return table;
  });
  EXPECT_THAT(OpenConstants(network.same).message(),
              HasSubstr("\"positions\" has other values at each size"));
}

TEST(OpenConstants, OperandsOfOpenNodesAreFrozen) {
  Network network = At("graph @g(%x: f32[$n]) { return \"y\": %x }");
  for (size_t i = 0; i < network.same.size(); ++i) {
    Graph& graph = *network.same[i];
    Value* table = graph.AddConstant(Tensor(DType::kF32, {64}), "table");
    const Ints size = {network.open.points[i][0]};
    graph.AddOutput(
        "c", graph.Make(Op::kSlice, {table}, {{"sizes", size}, {"starts", Ints{0}}, {"steps", Ints{1}}}));
  }
  ASSERT_TRUE(OpenConstants(network.same).ok());
  for (const Graph* graph : network.same) {
    const Node& slice = *graph->outputs()[1].value->producer();
    EXPECT_TRUE(slice.input(0)->producer()->attrs().Bool("frozen"));
  }
  ASSERT_TRUE(NarrowSizes(network.same, network.open).ok());
  EXPECT_EQ(network.open.dims[0].max, 64);
}

TEST(NarrowSizes, AWindowHasAPlace) {
  Network network = At("graph @g(%x: f32[1,2,$n,9]) { return \"y\": %x }");
  for (Graph* graph : network.same) {
    Value* pooled = graph->Make(Op::kMaxPool, {graph->inputs()[0].get()},
                                {{"kernel", Ints{2, 3}}, {"strides", Ints{2, 1}}});
    graph->AddOutput("p", pooled);
  }
  ASSERT_TRUE(NarrowSizes(network.same, network.open).ok());
  EXPECT_EQ(network.open.dims[0].min, 2);
}

TEST(SameGraphs, WhatDiffersInMoreThanSizesIsNamed) {
  Network network = At("graph @g(%x: f32[$n]) { %0 = relu(%x) @\"act\" : f32[$n] return \"y\": %0 }");
  network.graphs[1] = *ParseGraph("graph @g(%x: f32[3]) { %0 = exp(%x) @\"act\" : f32[3] return \"y\": %0 }");
  network.same[1] = network.graphs[1].get();
  const absl::Status status =
      ForEachSameNode(network.same, [](const SameNodes&, const SameOwners&) { return absl::OkStatus(); });
  EXPECT_THAT(status.message(), HasSubstr("with open sizes, relu \"act\" is a exp instead"));
}

}  // namespace
}  // namespace attune
