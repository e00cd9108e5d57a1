#include "graph/infer.h"
#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

TEST(InferDynamic, NonZero) {
  CheckCase({"non_zero", {"f32[2,3]"}, {}, "i64[2,n0<=6]"});
  CheckCase({"non_zero", {"bool[]"}, {}, "i64[0,n0<=1]"});
  CheckCase({"non_zero", {"u8[0,3]"}, {}, "i64[2,n0<=0]"});
  CheckCase({"non_zero", {"f32[2,n0<=3]"}, {}, "not supported: cannot search over the dynamic dimension 1"});
  CheckCase({"non_zero", {"f32[2]", "f32[2]"}, {}, "invalid: takes at most 1"});
}

Attributes NmsAttributes(int64_t max_per_class) {
  return {{"max_per_class", max_per_class}, {"iou_threshold", 0.5}};
}

TEST(InferDynamic, NonMaxSuppression) {
  CheckCase({"non_max_suppression", {"f32[2,100,4]", "f32[2,3,100]"}, NmsAttributes(10), "i64[n0<=60,3]"});
  CheckCase(
      {"non_max_suppression", {"f32[1,100,4]", "f32[1,3,100]"}, NmsAttributes(INT64_MAX), "i64[n0<=300,3]"});
  CheckCase({"non_max_suppression",
             {"f32[2,100,4]", "f32[2,3,99]"},
             NmsAttributes(10),
             "invalid: the scores f32[2,3,99] do not go with the boxes f32[2,100,4]"});
  CheckCase({"non_max_suppression",
             {"f32[2,100,5]", "f32[2,3,100]"},
             NmsAttributes(10),
             "invalid: the boxes tensor is f32[2,100,5], must have the shape [2,100,4]"});
  CheckCase({"non_max_suppression",
             {"f32[1,100,4]", "f32[1,3,100]"},
             NmsAttributes(-1),
             "invalid: max_per_class is -1"});
  CheckCase({"non_max_suppression",
             {"f32[1,s<=9,4]", "f32[1,3,s<=9]"},
             NmsAttributes(1),
             "not supported: cannot select over the dynamic dimension 1"});
}

TEST(InferDynamic, Compress) {
  CheckCase({"compress", {"f32[5,6]", "bool[4]"}, {{"axis", 1}}, "f32[5,n0<=4]"});
  CheckCase({"compress", {"f32[n0<=5,6]", "bool[6]"}, {{"axis", 1}}, "f32[n0<=5,n1<=6]"});
  CheckCase({"compress",
             {"f32[5,6]", "bool[7]"},
             {{"axis", 1}},
             "invalid: the condition bool[7] is longer than axis 1 of f32[5,6]"});
  CheckCase(
      {"compress", {"f32[5]", "i64[5]"}, {{"axis", 0}}, "invalid: the condition is i64[5], must be bool"});
  CheckCase({"compress",
             {"f32[5,6]", "bool[2,2]"},
             {{"axis", 0}},
             "invalid: the condition is bool[2,2], must have 1 dimensions"});
  CheckCase({"compress",
             {"f32[n<=5]", "bool[5]"},
             {{"axis", 0}},
             "not supported: cannot select along the dynamic dimension 0"});
}

TEST(InferDynamic, Unique) {
  CheckCase({"unique", {"f32[5]"}, {}, "f32[n0<=5] i64[n0<=5] i64[5] i64[n0<=5]"});
  CheckCase({"unique", {"bool[0]"}, {{"sorted", 0}}, "bool[n0<=0] i64[n0<=0] i64[0] i64[n0<=0]"});
  CheckCase({"unique", {"f32[5,1]"}, {}, "invalid: the input is f32[5,1], must have 1 dimensions"});
  CheckCase({"unique", {"f32[5]"}, {{"sorted", 3}}, "invalid: sorted is 3"});
  CheckCase({"unique", {"f32[n<=5]"}, {}, "not supported: cannot search over the dynamic dimension 0"});
}

TEST(InferDynamic, EachNodeHasASymbolOfItsOwnAndKeepsIt) {
  Graph graph;
  Value* x = graph.AddInput("x", TypeFromString("f32[4]"));
  Node* first = graph.Add(Op::kNonZero, {x}).value();
  Node* second = graph.Add(Op::kNonZero, {x}).value();
  EXPECT_EQ(ToString(first->output()->type()), "i64[1,n0<=4]");
  EXPECT_EQ(ToString(second->output()->type()), "i64[1,n1<=4]");
  EXPECT_FALSE(graph.Add(Op::kAdd, {first->output(), second->output()}).ok());
  EXPECT_EQ(InferTypes(*second).value().at(0), second->output()->type());
}

}  // namespace
}  // namespace attune::infer
