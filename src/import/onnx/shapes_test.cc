// The sizes that practice decides, and the warnings where a model says something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "import/common/warnings_for_test.h"
#include "import/onnx/testing/model_builder.h"

namespace attune::onnx {
namespace {

using importing::WarningsOf;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void AddFloats(Model& model, const std::string& name, const std::vector<float>& values) {
  TensorProto* tensor = model.proto.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(TensorProto::FLOAT);
  tensor->add_dims(static_cast<int64_t>(values.size()));
  for (float value : values) tensor->add_float_data(value);
}

// x [2, size] scaled by (1, scale) to y.
Model Scaled(int64_t opset, int64_t size, float scale) {
  Model model;
  model.proto.clear_opset_import();
  model.AddOpset("", opset);
  model.AddInput("x", {"2", std::to_string(size)});
  NodeProto* node = nullptr;
  if (opset < 9) {
    node = model.AddNode("Upsample", {"x"}, {"y"});
    AttributeProto* scales = AddAttribute(node, "scales", AttributeProto::FLOATS);
    scales->add_floats(1);
    scales->add_floats(scale);
  } else {
    AddFloats(model, "scales", {1, scale});
    node = opset == 9    ? model.AddNode("Upsample", {"x", "scales"}, {"y"})
           : opset == 10 ? model.AddNode("Resize", {"x", "scales"}, {"y"})
                         : model.AddNode("Resize", {"x", "", "scales"}, {"y"});
  }
  node->set_name("up");
  model.AddOutput("y");
  return model;
}

Shape SizeOf(const Model& model) {
  Shape shape;
  WarningsOf([&] {
    const auto graph = model.Import();
    ASSERT_TRUE(graph.ok()) << graph.status();
    shape = (*graph)->outputs()[0].value->type().shape();
  });
  return shape;
}

std::vector<std::string> Warnings(const Model& model, const OnnxImportOptions& options = {}) {
  return WarningsOf([&] { EXPECT_TRUE(model.Import(options).ok()); });
}

constexpr int64_t kOpsets[] = {7, 9, 10, 11, 13, 18, 19, 25};

TEST(OnnxShapes, SizesAreProductsInF32) {
  struct Case {
    int64_t size;
    float scale;
    int64_t out;
  };
  // The exact products of the first four with the f32 next to the scale are below the integer.
  constexpr Case kCases[] = {{320, 0.7F, 224}, {100, 0.7F, 70}, {100, 2.3F, 230}, {45, 1.4F, 63},
                             {10, 0.7F, 7},    {10, 1.1F, 11},  {7, 1.1F, 7},     {3, 1 / 3.0F, 1},
                             {10, 0.25F, 2},   {9, 2.9F, 26},   {13, 4, 52},      {1, 1.999F, 1}};
  for (const int64_t opset : kOpsets) {
    for (const auto& [size, scale, out] : kCases)
      EXPECT_EQ(SizeOf(Scaled(opset, size, scale)), Shape({2, out})) << opset << " " << size << " " << scale;
  }
}

TEST(OnnxShapes, WhereOnnxSaysAnotherSizeItIsMentioned) {
  for (const int64_t opset : kOpsets) {
    EXPECT_THAT(Warnings(Scaled(opset, 320, 0.7F)),
                ElementsAre("a size is rounded as runtimes round it, not as ONNX says node=up size=320 "
                            "scale=0.7 becomes=224 by_onnx=223 others=0"));
    EXPECT_THAT(Warnings(Scaled(opset, 320, 0.75F)), IsEmpty());
    EXPECT_THAT(Warnings(Scaled(opset, 10, 1.1F)), IsEmpty());
  }
}

TEST(OnnxShapes, ScalesMayBeComputed) {
  Model model;
  model.AddInput("x", {"100"});
  AddFloats(model, "seven", {7});
  AddFloats(model, "ten", {10});
  model.AddNode("Div", {"seven", "ten"}, {"scales"});
  model.AddNode("Resize", {"x", "", "scales"}, {"y"});
  model.AddOutput("y");
  EXPECT_EQ(SizeOf(model), Shape({70}));
}

// As PyTorch's older exporter writes recompute_scale_factor: what the graph computes in f32 stays f32.
TEST(OnnxShapes, SizesMayBeComputedByProducts) {
  Model model;
  model.AddInput("x", {"100"});
  AddFloats(model, "scale", {0.7F});
  const auto cast = [&](const char* from, const char* to, TensorProto::DataType type) {
    AddAttribute(model.AddNode("Cast", {from}, {to}), "to", AttributeProto::INT)->set_i(type);
  };
  model.AddNode("Shape", {"x"}, {"size"});
  cast("size", "float_size", TensorProto::FLOAT);
  model.AddNode("Mul", {"float_size", "scale"}, {"product"});
  model.AddNode("Floor", {"product"}, {"floor"});
  cast("floor", "sizes", TensorProto::INT64);
  model.AddNode("Resize", {"x", "", "", "sizes"}, {"y"});
  model.AddOutput("y");
  EXPECT_EQ(SizeOf(model), Shape({70}));
  EXPECT_THAT(Warnings(model), IsEmpty());
}

// A region says where the elements are, not how many.
TEST(OnnxShapes, RegionsDoNotDecideSizes) {
  Model model = Scaled(13, 10, 0.7F);
  AddFloats(model, "roi", {0, 0.25, 1, 0.75});
  NodeProto* node = model.proto.mutable_graph()->mutable_node(0);
  node->set_input(1, "roi");
  AddAttribute(node, "coordinate_transformation_mode", AttributeProto::STRING)->set_s("tf_crop_and_resize");
  EXPECT_EQ(SizeOf(model), Shape({2, 7}));
}

TEST(OnnxShapes, PoliciesRoundProductsInF32) {
  const auto resized = [](const std::string& policy) {
    Model model;
    model.proto.clear_opset_import();
    model.AddOpset("", 19);
    model.AddInput("x", {"6", "3", "5"});
    model.AddInts("sizes", {5, 10});
    NodeProto* node = model.AddNode("Resize", {"x", "", "", "sizes"}, {"y"});
    AttributeProto* axes = AddAttribute(node, "axes", AttributeProto::INTS);
    axes->add_ints(0);
    axes->add_ints(1);
    AddAttribute(node, "keep_aspect_ratio_policy", AttributeProto::STRING)->set_s(policy);
    model.AddOutput("y");
    return SizeOf(model);
  };
  // 5/6 of 3 is 2.5; 10/3 of 6 is 20.
  EXPECT_EQ(resized("not_larger"), Shape({5, 3, 5}));
  EXPECT_EQ(resized("not_smaller"), Shape({20, 10, 5}));
  EXPECT_EQ(resized("stretch"), Shape({5, 10, 5}));
}

// Opset 10: the element before the coordinate where an axis grows, and after it where it shrinks.
TEST(OnnxShapes, TheNearestOfOpset10DependsOnTheScale) {
  const auto elements = [](int64_t size, float scale) {
    Model model = Scaled(10, size, scale);
    const auto graph = model.Import();
    Tensor x(DType::kF32, {2, size});
    for (int64_t i = 0; i < 2 * size; ++i) x.SetDouble(i, static_cast<double>(i % size));
    const auto y = Interpreter().Run(**graph, {x});
    std::vector<double> row;
    for (int64_t i = 0; i < y->front().shape()[1]; ++i) row.push_back(y->front().ToDouble(i));
    return row;
  };
  EXPECT_THAT(elements(4, 0.6F), ElementsAre(0, 2));
  EXPECT_THAT(elements(2, 2.5F), ElementsAre(0, 0, 0, 1, 1));
}

// x [2,3] → Relu → h → Neg → y, with declared shapes.
Model Declaring(const std::vector<std::string>& h, const std::vector<std::string>& y) {
  Model model = OneNode("Relu");
  GraphProto* graph = model.proto.mutable_graph();
  graph->mutable_node(0)->set_output(0, "h");
  model.AddNode("Neg", {"h"}, {"y"});
  const auto declare = [](ValueInfoProto* info, const std::string& name,
                          const std::vector<std::string>& dims) {
    Model other;
    other.AddInput(name, dims);
    *info = other.proto.graph().input(0);
  };
  declare(graph->add_value_info(), "h", h);
  declare(graph->mutable_output(0), "y", y);
  return model;
}

TEST(OnnxShapes, DeclaredShapesAreCompared) {
  EXPECT_THAT(Warnings(Declaring({"2", "3"}, {"2", "3"})), IsEmpty());
  EXPECT_THAT(Warnings(Declaring({"N", "3"}, {"2", "M"})), IsEmpty());
  EXPECT_THAT(Warnings(Declaring({"2", "4"}, {"6"})),
              ElementsAre("a tensor has another shape than the model declares tensor=h shape=[2,3] "
                          "declared=[2,4] others=1"));
  EXPECT_THAT(Warnings(Declaring({"2", "3"}, {"1", "N"})), ElementsAre(HasSubstr(" tensor=y ")));
}

TEST(OnnxShapes, WhatNothingMakesIsNotCompared) {
  Model model = Declaring({"2", "3"}, {"2", "3"});
  model.proto.mutable_graph()->mutable_value_info(0)->set_name("gone");
  EXPECT_THAT(Warnings(model), IsEmpty());
}

// Others than the declared shapes follow from other inputs.
TEST(OnnxShapes, OpenInputsAreNotCompared) {
  Model model = Declaring({"1", "3"}, {"1", "3"});
  model.proto.mutable_graph()->clear_input();
  model.AddInput("x", {"N", "3"});
  EXPECT_THAT(Warnings(model, {.input_shapes = {{"x", {2, 3}}}}), IsEmpty());
}

TEST(OnnxShapes, BranchesAreComparedAsTheirGraphIs) {
  const auto branching = [](const std::string& dim) {
    Model model;
    model.AddInput("x", {dim, "3"});
    model.AddInput("c", {}, TensorProto::BOOL);
    NodeProto* node = model.AddNode("If", {"c"}, {"y"});
    for (const char* branch : {"then_branch", "else_branch"}) {
      GraphProto* body = AddAttribute(node, branch, AttributeProto::GRAPH)->mutable_g();
      body->set_name(branch);
      Model::FillNode(body->add_node(), "Relu", {"x"}, {"z"});
      Model other;
      other.AddInput("z", {"7", "3"});
      *body->add_output() = other.proto.graph().input(0);
    }
    model.AddOutput("y");
    return model;
  };
  EXPECT_THAT(Warnings(branching("2")), ElementsAre(AllOf(HasSubstr(" tensor=z "), HasSubstr(" others=0"))));
  EXPECT_THAT(Warnings(branching("N"), {.input_shapes = {{"x", {2, 3}}}}), IsEmpty());
}

}  // namespace
}  // namespace attune::onnx
