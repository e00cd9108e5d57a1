// Models that ask for more than they contain, or contradict themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "import/onnx/testing/model_builder.h"

namespace attune::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Model WithFloats(Model model, const std::string& name, const std::vector<int64_t>& dims,
                 const std::vector<float>& values) {
  TensorProto* tensor = model.proto.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(TensorProto::FLOAT);
  for (int64_t dim : dims) tensor->add_dims(dim);
  for (float value : values) tensor->add_float_data(value);
  return model;
}

// A node's name becomes part of the names of all nodes that its calls expand to.
TEST(OnnxHostile, LongNamesAreCut) {
  Model model;
  model.AddOpset("local", 1);
  FunctionProto* function = model.proto.add_functions();
  function->set_domain("local");
  function->set_name("F");
  function->add_input("in");
  function->add_output("out");
  function->add_opset_import()->set_version(17);
  Model::FillNode(function->add_node(), "Neg", {"in"}, {"out"})->set_name("inner");
  model.AddInput("x", {"2"});
  NodeProto* call = model.AddNode("F", {"x"}, {"y"});
  call->set_domain("local");
  call->set_name(std::string(1 << 16, 'n'));
  model.AddOutput("y");
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string& name = (*graph)->nodes().front()->name();
  EXPECT_EQ(name.size(), 512u);
  EXPECT_TRUE(name.ends_with("nnn/inner"));
  // Long names also take long to read: each counts as many nodes.
  for (int i = 0; i < 400; ++i) {
    const std::string input = i == 0 ? "y" : "y" + std::to_string(i);
    NodeProto* next = model.AddNode("F", {input}, {"y" + std::to_string(i + 1)});
    next->set_domain("local");
    next->set_name(std::string(1 << 16, 'n'));
  }
  EXPECT_TRUE(model.Import().ok());
  function->mutable_node(0)->set_name(std::string(1 << 17, 'n'));
  EXPECT_THAT(model.Error(), HasSubstr("unrolls to too many operators"));
}

// A shape that is computed by an endless loop over constants.
TEST(OnnxHostile, AShapeThatTakesForeverIsRefused) {
  for (const bool counted : {false, true}) {
    Model model;
    model.AddInput("x", {"1", "4"});
    model.AddInts("start", {2, 2});
    TensorProto* condition = model.proto.mutable_graph()->add_initializer();
    condition->set_name("go");
    condition->set_data_type(TensorProto::BOOL);
    condition->add_int32_data(1);
    if (counted) model.AddInts("steps", {int64_t{1} << 40});
    GraphProto* body = AddAttribute(model.AddNode("Loop", {counted ? "steps" : "", "go", "start"}, {"shape"}),
                                    "body", AttributeProto::GRAPH)
                           ->mutable_g();
    for (const char* input : {"i", "c", "s"}) body->add_input()->set_name(input);
    Model::FillNode(body->add_node(), "Identity", {"c"}, {"c_out"});
    Model::FillNode(body->add_node(), "Neg", {"s"}, {"s_out"});
    for (const char* output : {"c_out", "s_out"}) body->add_output()->set_name(output);
    model.AddNode("Reshape", {"x", "shape"}, {"y"});
    model.AddOutput("y");
    EXPECT_THAT(model.Error(), HasSubstr("takes too much work"));
  }
}

// Thousands of parts joined by one node would become one kernel with thousands of loops.
TEST(OnnxHostile, ManyPartsAreJoinedStepByStep) {
  const auto import = [](bool slices) {
    Model model;
    model.AddInput("x", {"1", "600"});
    std::vector<std::string> parts;
    for (int i = 0; i < 600; ++i) parts.push_back("p" + std::to_string(i));
    AddAttribute(model.AddNode("Split", {"x"}, parts), "axis", AttributeProto::INT)->set_i(1);
    std::reverse(parts.begin(), parts.end());
    for (std::string& part : parts) {
      if (slices) continue;
      model.AddNode("Neg", {part}, {part + "n"});
      part += "n";
    }
    AddAttribute(model.AddNode("Concat", parts, {"y"}), "axis", AttributeProto::INT)->set_i(1);
    model.AddOutput("y");
    return model.Import();
  };
  Tensor x(DType::kF32, {1, 600});
  for (int64_t i = 0; i < 600; ++i) x.SetDouble(i, static_cast<double>(i));
  for (const bool slices : {false, true}) {
    const auto graph = import(slices);
    ASSERT_TRUE(graph.ok()) << graph.status();
    for (const auto& node : (*graph)->nodes()) EXPECT_LE(node->num_inputs(), 256);
    EXPECT_EQ((*graph)->outputs()[0].value->producer()->op(), slices ? Op::kGather : Op::kConcat);
    const auto outputs = Interpreter().Run(**graph, {x});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (int64_t i = 0; i < 600; ++i) {
      EXPECT_EQ(outputs->front().ToDouble(i), static_cast<double>(slices ? 599 - i : i - 599));
    }
  }
}

TEST(OnnxHostile, IntegersAreNoFloats) {
  Model model = WithFloats({}, "shape", {2}, {3, 2});
  model.AddInput("x", {"2", "3"});
  model.AddNode("Reshape", {"x", "shape"}, {"y"});
  model.AddOutput("y");
  EXPECT_THAT(model.Error(), HasSubstr("its shape must be of integers, not of f32"));
}

TEST(OnnxHostile, IntegerConvolutionsAreOfBytes) {
  for (const auto& [x, w] : {std::pair(TensorProto::INT16, TensorProto::INT8),
                             std::pair(TensorProto::UINT8, TensorProto::INT16)}) {
    Model model;
    model.AddInput("x", {"1", "2", "3", "3"}, x);
    model.AddInput("w", {"2", "2", "3", "3"}, w);
    model.AddNode("ConvInteger", {"x", "w"}, {"y"});
    model.AddOutput("y");
    EXPECT_THAT(model.Error(), HasSubstr("a convolution of i16"));
  }
}

TEST(OnnxHostile, ResizeHasScalesOrSizes) {
  Model model = WithFloats({}, "scales", {2}, {2, 2});
  model.AddInput("x", {"2", "3"});
  model.AddInts("sizes", {4, 6});
  NodeProto* node = model.AddNode("Resize", {"x", "", "scales", "sizes"}, {"y"});
  model.AddOutput("y");
  EXPECT_THAT(model.Error(), HasSubstr("it has both scales and sizes"));
  node->mutable_input()->RemoveLast();
  EXPECT_TRUE(model.Import().ok());
}

TEST(OnnxHostile, PadsBelowZeroCutNoMoreThanThereIs) {
  const auto import = [](const std::vector<int64_t>& pads) {
    Model model;
    model.AddInput("x", {"2", "3"});
    model.AddInts("pads", pads);
    model.AddNode("Pad", {"x", "pads"}, {"y"});
    model.AddOutput("y");
    return model.Import();
  };
  const auto cut = import({0, -1, 1, -1});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_THAT((*cut)->outputs()[0].value->type().shape(), ElementsAre(3, 1));
  EXPECT_TRUE(import({0, -3, 0, 0}).ok());
  EXPECT_THAT(std::string(import({0, -2, 0, -2}).status().message()),
              HasSubstr("its pads cut 4 of 3 elements along axis 1"));
  // Cutting too much is an error even if the other end is padded.
  EXPECT_FALSE(import({0, -4, 0, 4}).ok());
}

// C and the slope broadcast to the other operand, not the other way around.
TEST(OnnxHostile, OperandsBroadcastOneWay) {
  const auto error = [](const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<int64_t>& dims) {
    Model model = WithFloats({}, "w", dims, std::vector<float>(6));
    model.AddInput("x", {"2", "2"});
    model.AddNode(op, inputs, {"y"});
    model.AddOutput("y");
    return model.Error();
  };
  EXPECT_THAT(error("Gemm", {"x", "x", "w"}, {3, 1, 2}), HasSubstr("does not broadcast to f32[2,2]"));
}

// onnxruntime broadcasts x to the slope too, and so there are such files.
TEST(OnnxHostile, AWiderSlopeIsNotSupported) {
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{3, 2}, {3, 1, 2}, {1, 1, 2, 3}}) {
    Model model = WithFloats({}, "w", dims, std::vector<float>(6));
    model.AddInput(
        "x", dims.back() == 3 ? std::vector<std::string>{"2", "1"} : std::vector<std::string>{"1", "2"});
    model.AddNode("PRelu", {"x", "w"}, {"y"});
    model.AddOutput("y");
    EXPECT_THAT(model.Error(), HasSubstr("not supported: PRelu y: its slope, f32["));
  }
}

TEST(OnnxHostile, AxesAreGivenOnce) {
  Model model;
  model.AddInput("x", {"2", "3"});
  model.AddInts("starts", {0, 1});
  model.AddInts("ends", {1, 2});
  model.AddInts("axes", {1, -1});
  model.AddNode("Slice", {"x", "starts", "ends", "axes"}, {"y"});
  model.AddOutput("y");
  EXPECT_THAT(model.Error(), HasSubstr("an axis is given twice: 1, 1"));
}

TEST(OnnxHostile, RecurrentWeightsFitTheirAttributes) {
  const auto error = [](int64_t hidden_size, int64_t bias) {
    Model model = WithFloats({}, "W", {1, 8, 3}, std::vector<float>(24));
    model = WithFloats(std::move(model), "R", {1, 8, 2}, std::vector<float>(16));
    model = WithFloats(std::move(model), "B", {1, bias}, std::vector<float>(static_cast<size_t>(bias)));
    model.AddInput("x", {"1", "1", "3"});
    NodeProto* node = model.AddNode("LSTM", {"x", "W", "R", "B"}, {"y"});
    AddAttribute(node, "hidden_size", AttributeProto::INT)->set_i(hidden_size);
    model.AddOutput("y");
    return model.Error();
  };
  EXPECT_EQ(error(2, 16), "");
  EXPECT_THAT(error(3, 16), HasSubstr("its hidden_size is 3, its R has 2"));
  EXPECT_THAT(error(2, 24), HasSubstr("its B is f32[1,24], not [1,16]"));
}

}  // namespace
}  // namespace attune::onnx
