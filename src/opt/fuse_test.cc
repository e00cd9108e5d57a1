#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_replace.h"
#include "base/random.h"
#include "opt/fusion_groups.h"
#include "opt/testing.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

// The groups as lists of operator names, constants not among them.
std::vector<std::string> Groups(std::string_view text, const FusionOptions& options = {}) {
  const std::unique_ptr<Graph> graph = ParseOrDie(text);
  std::vector<std::string> result;
  for (const FusionGroup& group : PartitionForFusion(*graph, options)) {
    std::string names;
    for (const Node* node : group.nodes) {
      absl::StrAppend(&names, names.empty() ? "" : " ", node == group.anchor ? "*" : "", OpName(node->op()));
    }
    result.push_back(names);
  }
  return result;
}

TEST(Fuse, RegionHasInputsOutputsAndScalars) {
  ExpectRewrite("fuse", R"(graph @g(%x: f32[1,2,2,2], %r: f32[1,2,2,2]) {
    %w = constant() {value = f32[2,2,1,1]<1, 2, 3, 4>} : f32[2,2,1,1]
    %s = constant() {value = f32[1]<5>} : f32[1]
    %c = conv(%x, %w) @"conv" : f32[1,2,2,2]
    %a = add(%c, %r) : f32[1,2,2,2]
    %m = mul(%a, %s) : f32[1,2,2,2]
    %n = neg(%m) @"neg" : f32[1,2,2,2]
    return "m": %m, "n": %n
  })",
                R"(graph @g(%x: f32[1,2,2,2], %r: f32[1,2,2,2]) {
    %w = constant() {value = f32[2,2,1,1]<1, 2, 3, 4>} : f32[2,2,1,1]
    %m = fused(%x, %w, %r) {
      graph @conv(%x: f32[1,2,2,2], %w: f32[2,2,1,1], %r: f32[1,2,2,2]) {
        %c = conv(%x, %w) @"conv" : f32[1,2,2,2]
        %a = add(%c, %r) : f32[1,2,2,2]
        %s = constant() {value = f32[1]<5>} : f32[1]
        %m = mul(%a, %s) : f32[1,2,2,2]
        return "m": %m
      }
    } @"conv" : f32[1,2,2,2]
    %n = fused(%m) {
      graph @neg(%m: f32[1,2,2,2]) {
        %n = neg(%m) @"neg" : f32[1,2,2,2]
        return "n": %n
      }
    } @"neg" : f32[1,2,2,2]
    return "m": %m, "n": %n
  })");
}

TEST(Fuse, TheSumOfTwoConvolutionsBelongsToTheLaterOne) {
  EXPECT_THAT(Groups(R"(graph @g(%x: f32[1,1,2,2], %w: f32[1,1,1,1]) {
    %a = conv(%x, %w) : f32[1,1,2,2]
    %b = conv(%x, %w) : f32[1,1,2,2]
    %c = add(%a, %b) : f32[1,1,2,2]
    %d = relu(%c) : f32[1,1,2,2]
    return "out": %d
  })"),
              ElementsAre("*conv", "*conv add relu"));
}

TEST(Fuse, UsesThatJoinAgainStayInside) {
  EXPECT_THAT(Groups(R"(graph @g(%x: f32[1,1,2,2], %w: f32[1,1,1,1]) {
    %a = conv(%x, %w) : f32[1,1,2,2]
    %b = tanh(%a) : f32[1,1,2,2]
    %c = exp(%a) : f32[1,1,2,2]
    %d = mul(%b, %c) : f32[1,1,2,2]
    %e = add(%d, %a) : f32[1,1,2,2]
    return "out": %e
  })"),
              ElementsAre("*conv tanh exp mul add"));
}

TEST(Fuse, ASecondUseOutsideEndsTheEpilogue) {
  EXPECT_THAT(Groups(R"(graph @g(%x: f32[1,1,2,2], %w: f32[1,1,1,1]) {
    %a = conv(%x, %w) : f32[1,1,2,2]
    %b = relu(%a) : f32[1,1,2,2]
    %c = conv(%b, %w) : f32[1,1,2,2]
    %d = add(%c, %b) : f32[1,1,2,2]
    return "out": %d
  })"),
              ElementsAre("*conv relu", "*conv add"));
}

TEST(Fuse, EpiloguesDoNotGrowTheResult) {
  EXPECT_THAT(Groups(R"(graph @g(%x: f32[1,1,2,2], %w: f32[1,1,2,2], %y: f32[1,1,4,4]) {
    %a = conv(%x, %w) : f32[1,1,1,1]
    %b = mul(%a, %y) : f32[1,1,4,4]
    return "out": %b
  })"),
              ElementsAre("*conv", "*mul"));
}

TEST(Fuse, ElementwiseGroupsHaveOneExit) {
  EXPECT_THAT(Groups(R"(graph @g(%x: f32[4], %y: f32[4]) {
    %a = exp(%x) : f32[4]
    %b = tanh(%y) : f32[4]
    %c = add(%a, %b) : f32[4]
    %d = mul(%c, %c) : f32[4]
    %e = neg(%c) : f32[4]
    return "d": %d, "e": %e
  })"),
              ElementsAre("exp tanh *add", "*mul", "*neg"));
}

TEST(Fuse, ProloguesOfReductionsButNotOfContractions) {
  EXPECT_THAT(Groups(R"(graph @g(%x: f32[4,4], %y: f32[4,4]) {
    %a = mul(%x, %y) : f32[4,4]
    %b = reduce_sum(%a) {axes = [1]} : f32[4,1]
    %c = exp(%x) : f32[4,4]
    %d = matmul(%c, %y) : f32[4,4]
    %e = exp(%d) : f32[4,4]
    %f = softmax(%y) {axis = 1} : f32[4,4]
    return "b": %b, "e": %e, "f": %f
  })"),
              ElementsAre("mul *reduce_sum", "*exp", "*matmul exp", "*softmax"));
}

TEST(Fuse, ProloguesOfPoolsThatReadEachElementOnce) {
  const std::string text = R"(graph @g(%x: f32[1,2,6,6], %s: f32[1,2,1,1]) {
    %m = mul(%x, %s) : f32[1,2,6,6]
    %r = relu(%m) : f32[1,2,6,6]
    %p = avg_pool(%r) {kernel = [2, 2], strides = [STRIDE, STRIDE]} : f32[1,2,SIZE,SIZE]
    return "": %p
  })";
  EXPECT_THAT(Groups(absl::StrReplaceAll(text, {{"STRIDE", "2"}, {"SIZE", "3"}})),
              ElementsAre("mul relu *avg_pool"));
  EXPECT_THAT(Groups(absl::StrReplaceAll(text, {{"STRIDE", "1"}, {"SIZE", "5"}})),
              ElementsAre("mul *relu", "*avg_pool"));
}

TEST(Fuse, NormalizationsTakeCheapProloguesOnly) {
  EXPECT_THAT(Groups(R"(graph @g(%x: f32[4,4], %y: f32[4,4]) {
    %a = add(%x, %y) : f32[4,4]
    %b = softmax(%a) {axis = 1} : f32[4,4]
    %c = exp(%x) : f32[4,4]
    %d = softmax(%c) {axis = 1} : f32[4,4]
    return "b": %b, "d": %d
  })"),
              ElementsAre("add *softmax", "*exp", "*softmax"));
}

// Values that others use as well stay outside.
TEST(Fuse, AttentionTakesTheMovementAroundIt) {
  EXPECT_THAT(Groups(R"(graph @g(%x: f32[4,2,8], %y: f32[4,2,8], %v: f32[1,2,4,8]) {
    %a = transpose(%x) {perm = [1, 0, 2]} : f32[2,4,8]
    %q = reshape(%a) {shape = [1, 2, 4, 8]} : f32[1,2,4,8]
    %b = transpose(%y) {perm = [1, 0, 2]} : f32[2,4,8]
    %k = reshape(%b) {shape = [1, 2, 4, 8]} : f32[1,2,4,8]
    %c = attention(%q, %k, %v) {scale = 1} : f32[1,2,4,8]
    %t = transpose(%c) {perm = [0, 2, 1, 3]} : f32[1,4,2,8]
    return "t": %t, "b": %b
  })"),
              ElementsAre("*transpose", "transpose reshape reshape *attention transpose"));
}

TEST(Fuse, AttentionRepeatsTheKeysOfSeveralHeads) {
  EXPECT_THAT(Groups(R"(graph @g(%q: f32[1,4,1,8], %y: f32[1,2,1,5,8], %v: f32[1,4,5,8]) {
    %b = broadcast(%y) {shape = [1, 2, 2, 5, 8]} : f32[1,2,2,5,8]
    %k = reshape(%b) {shape = [1, 4, 5, 8]} : f32[1,4,5,8]
    %c = attention(%q, %k, %v) {scale = 1} : f32[1,4,1,8]
    return "c": %c
  })"),
              ElementsAre("broadcast reshape *attention"));
}

TEST(Fuse, ReshapesStandAlone) {
  EXPECT_THAT(Groups(R"(graph @g(%x: f32[4,4]) {
    %a = exp(%x) : f32[4,4]
    %b = reshape(%a) {shape = [16]} : f32[16]
    %c = neg(%b) : f32[16]
    return "out": %c
  })"),
              ElementsAre("*exp", "*reshape", "*neg"));
}

TEST(Fuse, LimitsAndSwitches) {
  constexpr std::string_view kText = R"(graph @g(%x: f32[4], %y: f32[4], %z: f32[4]) {
    %a = add(%x, %y) : f32[4]
    %b = add(%a, %z) : f32[4]
    %c = reduce_sum(%b) {axes = [0]} : f32[1]
    %d = neg(%c) : f32[1]
    return "out": %d
  })";
  EXPECT_THAT(Groups(kText), ElementsAre("add add *reduce_sum neg"));
  EXPECT_THAT(Groups(kText, {.epilogues = false}), ElementsAre("add add *reduce_sum", "*neg"));
  EXPECT_THAT(Groups(kText, {.prologues = false}), ElementsAre("add *add", "*reduce_sum neg"));
  EXPECT_THAT(Groups(kText, {.max_inputs = 2}), ElementsAre("*add", "add *reduce_sum neg"));
}

// A group must not wait for itself: the sum may join either convolution, whatever lies on the other path.
TEST(Fuse, NoCyclesInRandomGraphs) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Graph graph("random");
    std::vector<Value*> values = {graph.AddInput("x", TensorType(DType::kF32, Shape{1, 2, 3, 3}))};
    Value* weights = graph.AddInput("w", TensorType(DType::kF32, Shape{2, 2, 1, 1}));
    for (int i = 0; i < 40; ++i) {
      const auto pick = [&] {
        return values[static_cast<size_t>(
            random.Integer(std::max<int64_t>(0, std::ssize(values) - 6), std::ssize(values) - 1))];
      };
      switch (random.Integer(0, 3)) {
        case 0:
          values.push_back(graph.Make(Op::kConv, {pick(), weights}));
          break;
        case 1:
          values.push_back(graph.Make(Op::kRelu, {pick()}));
          break;
        default:
          values.push_back(graph.Make(Op::kAdd, {pick(), pick()}));
      }
    }
    graph.AddOutput("out", values.back());
    std::map<const Node*, size_t> group_of;
    const std::vector<FusionGroup> groups = PartitionForFusion(graph, {});
    for (size_t g = 0; g < groups.size(); ++g) {
      for (const Node* node : groups[g].nodes) EXPECT_TRUE(group_of.emplace(node, g).second);
    }
    EXPECT_EQ(group_of.size(), graph.nodes().size());
    // Groups come in the order of their last nodes, in which each must find its inputs made.
    for (size_t g = 0; g < groups.size(); ++g) {
      for (const Node* node : groups[g].nodes) {
        for (const Value* input : node->inputs()) {
          if (input->producer() != nullptr) EXPECT_LE(group_of.at(input->producer()), g) << "seed " << seed;
        }
      }
    }
  }
}

// Written as one formula, n squarings would be 2^n products.
TEST(Fuse, FormulasStaySmall) {
  const auto longest = [](Op op, int count) {
    Graph graph("squares");
    Value* x = graph.AddInput("x", TensorType(DType::kF32, Shape{8}));
    for (int i = 0; i < count; ++i) x = op == Op::kMul ? graph.Make(op, {x, x}) : graph.Make(op, {x});
    graph.AddOutput("out", x);
    size_t nodes = 0;
    for (const FusionGroup& group : PartitionForFusion(graph, {}))
      nodes = std::max(nodes, group.nodes.size());
    return nodes;
  };
  EXPECT_EQ(longest(Op::kMul, 10), 10u);
  EXPECT_EQ(longest(Op::kMul, 60), 11u);
  EXPECT_EQ(longest(Op::kHardSwish, 60), 5u);  // reads its operand twice, taken for four times
  EXPECT_EQ(longest(Op::kRelu, 60), 60u);
}

// Takes milliseconds; were its time exponential in the nodes, it would not end.
TEST(Fuse, LargeGraphsAreQuick) {
  Graph graph("large");
  Value* x = graph.AddInput("x", TensorType(DType::kF32, Shape{1, 2, 3, 3}));
  Value* weights = graph.AddInput("w", TensorType(DType::kF32, Shape{2, 2, 1, 1}));
  for (int i = 0; i < 2000; ++i) {
    Value* y = graph.Make(Op::kConv, {x, weights});
    x = graph.Make(Op::kRelu, {graph.Make(Op::kAdd, {y, x})});
  }
  graph.AddOutput("out", x);
  EXPECT_EQ(PartitionForFusion(graph, {}).size(), 2000u);
}

}  // namespace
}  // namespace attune
