#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

using Regions = std::vector<std::unique_ptr<Graph>>;

// A region with inputs of the types `inputs`; it returns those of them that `results` counts out.
std::unique_ptr<Graph> Region(const std::vector<std::string>& inputs, const std::vector<size_t>& results) {
  auto region = std::make_unique<Graph>();
  for (const std::string& type : inputs) region->AddInput("", TypeFromString(type));
  for (size_t i : results) region->AddOutput("", region->inputs().at(i).get());
  return region;
}

template <typename... Graphs>
Regions Of(Graphs... graphs) {
  Regions regions;
  (regions.push_back(std::move(graphs)), ...);
  return regions;
}

std::string Infer(Op op, const std::vector<std::string>& inputs, Regions regions) {
  Graph graph;
  std::vector<Value*> values;
  for (const std::string& type : inputs) values.push_back(graph.AddInput("", TypeFromString(type)));
  return Describe(graph.Add(op, values, {}, "", nullptr, std::move(regions)));
}

TEST(InferControl, If) {
  EXPECT_EQ(Infer(Op::kIf, {"bool[]", "f32[2]", "f32[2]"},
                  Of(Region({"f32[2]", "f32[2]"}, {0}), Region({"f32[2]", "f32[2]"}, {1}))),
            "f32[2]");
  EXPECT_EQ(Infer(Op::kIf, {"bool[]", "f32[n<=2]", "i8[]"},
                  Of(Region({"f32[n<=2]", "i8[]"}, {0, 1}), Region({"f32[n<=2]", "i8[]"}, {0, 1}))),
            "f32[n<=2] i8[]");
  EXPECT_EQ(Infer(Op::kIf, {"bool[1]"}, Of(Region({}, {}), Region({}, {}))),
            "invalid: if: the condition is bool[1], must be bool[]");
  EXPECT_EQ(Infer(Op::kIf, {"bool[]", "f32[2]"}, Of(Region({"f32[2]"}, {0}), Region({"f32[3]"}, {0}))),
            "invalid: if: the second region takes f32[3] as input 0, is given f32[2]");
  EXPECT_EQ(Infer(Op::kIf, {"bool[]", "f32[2]"}, Of(Region({}, {}), Region({"f32[2]"}, {0}))),
            "invalid: if: the first region takes 0 inputs, is given 1");
  EXPECT_EQ(Infer(Op::kIf, {"bool[]", "f32[2]"}, Of(Region({"f32[2]"}, {0}), Region({"f32[2]"}, {}))),
            "invalid: if: the first region gives 1 results, the second 0");
}

TEST(InferControl, IfNeedsEqualResults) {
  const std::vector<std::string> two = {"f32[2]", "f32[3]"};
  EXPECT_EQ(Infer(Op::kIf, {"bool[]", "f32[2]", "f32[3]"}, Of(Region(two, {0}), Region(two, {1}))),
            "not supported: if: result 0 is f32[2] of the first region, f32[3] of the second");
  const std::vector<std::string> mixed = {"f32[2]", "i32[2]"};
  EXPECT_EQ(Infer(Op::kIf, {"bool[]", "f32[2]", "i32[2]"}, Of(Region(mixed, {0}), Region(mixed, {1}))),
            "invalid: if: result 0 is f32[2] of the first region, i32[2] of the second");
}

TEST(InferControl, IfKeepsSizesThatAriseInsideInside) {
  Regions regions = Of(Region({"f32[4]"}, {}), Region({"f32[4]"}, {}));
  for (auto& region : regions) region->AddOutput("", region->Make(Op::kNonZero, {region->inputs()[0].get()}));
  EXPECT_EQ(
      Infer(Op::kIf, {"bool[]", "f32[4]"}, std::move(regions)),
      "not supported: if: the result i64[1,n0<=4] has a size that depends on the data inside the region");
}

TEST(InferControl, Loop) {
  const std::vector<std::string> body = {"i64[]", "bool[]", "f32[2]", "i32[n<=3]"};
  EXPECT_EQ(Infer(Op::kLoop, {"i64[]", "bool[]", "f32[2]", "i32[n<=3]"}, Of(Region(body, {1, 2, 3}))),
            "f32[2] i32[n<=3]");
  EXPECT_EQ(Infer(Op::kLoop, {"i32[]", "bool[]", "f32[2]", "i32[n<=3]"}, Of(Region(body, {1, 2, 3}))),
            "invalid: loop: the trip count is i32[], must be i64[]");
  EXPECT_EQ(Infer(Op::kLoop, {"i64[]", "bool[2]", "f32[2]", "i32[n<=3]"}, Of(Region(body, {1, 2, 3}))),
            "invalid: loop: the condition is bool[2], must be bool[]");
  EXPECT_EQ(Infer(Op::kLoop, {"i64[]", "bool[]", "f32[2]"}, Of(Region(body, {1, 2}))),
            "invalid: loop: the body takes 4 inputs, is given 3");
  EXPECT_EQ(Infer(Op::kLoop, {"i64[]", "bool[]", "f32[2]", "i32[n<=3]"}, Of(Region(body, {1, 2}))),
            "invalid: loop: the body gives 2 results, must give a condition and 2 values");
  EXPECT_EQ(Infer(Op::kLoop, {"i64[]", "bool[]", "f32[2]", "i32[n<=3]"}, Of(Region(body, {0, 2, 3}))),
            "invalid: loop: the body's condition is i64[], must be bool[]");
  EXPECT_EQ(Infer(Op::kLoop, {"i64[]", "bool[]", "f32[2]", "i32[n<=3]"}, Of(Region(body, {1, 3, 2}))),
            "not supported: loop: the carried value 0 is f32[2], the body makes it i32[n<=3]");
}

TEST(InferControl, Fused) {
  EXPECT_EQ(Infer(Op::kFused, {"f32[2]{c0/16}", "i8[]"}, Of(Region({"f32[2]{c0/16}", "i8[]"}, {1, 0}))),
            "i8[] f32[2]{c0/16}");
  EXPECT_EQ(Infer(Op::kFused, {}, Of(Region({}, {}))), "");
  EXPECT_EQ(Infer(Op::kFused, {"f32[2]"}, Of(Region({"f32[2]{c0/16}"}, {0}))),
            "invalid: fused: the region takes f32[2]{c0/16} as input 0, is given f32[2]");
  EXPECT_EQ(Infer(Op::kFused, {"f32[2]"}, {}), "invalid: fused: has 0 regions, needs 1");
}

}  // namespace
}  // namespace attune::infer
