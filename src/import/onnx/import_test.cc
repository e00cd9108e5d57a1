#include "import/onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/common/shared_weights_for_test.h"
#include "import/onnx/testing/model_builder.h"

namespace attune::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OnnxImport, ImportsANode) {
  const auto graph = OneNode("Relu").Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].name, "y");
  EXPECT_EQ((*graph)->outputs()[0].value->producer()->op(), Op::kRelu);
  EXPECT_EQ((*graph)->outputs()[0].value->type().shape(), Shape({2, 3}));
}

TEST(OnnxImport, ListsEverythingThatIsNotSupportedAtOnce) {
  Model model = OneNode("Relu");
  model.AddNode("NoSuchOperator", {"y"}, {"a"})->set_name("first");
  model.AddNode("Relu", {"a"}, {"b"});
  model.AddNode("Frobnicate", {"b"}, {"c"})->set_name("second");
  model.AddNode("RandomNormalLike", {"x"}, {"d"})->set_name("third");
  const absl::Status status = model.Import().status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_EQ(status.message(),
            "not supported: NoSuchOperator first: no such operator in opset 17 of domain 'ai.onnx'\n"
            "not supported: Frobnicate second: no such operator in opset 17 of domain 'ai.onnx'\n"
            "not supported: RandomNormalLike third: it makes random numbers");
}

TEST(OnnxImport, NodesOutOfOrderAndCyclesNameTheNode) {
  Model model;
  model.AddInput("x", {"2"});
  model.AddNode("Add", {"x", "b"}, {"a"})->set_name("one");
  model.AddNode("Add", {"x", "a"}, {"b"})->set_name("two");
  model.AddOutput("b");
  EXPECT_THAT(model.Error(), HasSubstr("node 'one' (Add) uses 'b', which nothing before it makes"));
}

TEST(OnnxImport, NamesAreMadeOnce) {
  Model model = OneNode("Relu");
  model.AddNode("Neg", {"x"}, {"y"})->set_name("again");
  EXPECT_THAT(model.Error(), HasSubstr("node 'again' (Neg) makes 'y', which exists already"));
}

TEST(OnnxImport, ShapesThatDoNotFitNameTheNode) {
  Model model;
  model.AddInput("x", {"2", "3"});
  model.AddInput("w", {"4", "5"});
  model.AddNode("MatMul", {"x", "w"}, {"y"})->set_name("product");
  model.AddOutput("y");
  EXPECT_THAT(model.Error(), HasSubstr("node 'product' (MatMul)"));
}

TEST(OnnxImport, OpenDimensionsAreListedWithAnExample) {
  Model model;
  model.AddInput("image", {"N", "3", "H", "W"});
  model.AddInput("mask", {"N", "7"});
  model.AddNode("Relu", {"image"}, {"y"});
  model.AddNode("Relu", {"mask"}, {"z"});
  model.AddOutput("y");
  model.AddOutput("z");
  EXPECT_THAT(model.Error(), HasSubstr("--shape image=1x3x224x224 --shape mask=1x7"));
  // The given shape of one input binds N for both.
  const auto graph = model.Import({.input_shapes = {{"image", {4, 3, 8, 8}}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->inputs()[1]->type().shape(), Shape({4, 7}));
  EXPECT_THAT(model.Error({.input_shapes = {{"image", {4, 1, 8, 8}}}}), HasSubstr("but [4,1,8,8] was given"));
}

TEST(OnnxImport, HugeInputsAreRefused) {
  Model model;
  model.AddInput("x", {"1000000", "1000000", "1000000"});
  model.AddNode("Relu", {"x"}, {"y"});
  model.AddOutput("y");
  EXPECT_THAT(model.Error(), HasSubstr("input 'x'"));
  model.proto.mutable_graph()->clear_input();
  model.AddInput("x", {"4611686018427387904", "4611686018427387904"});
  EXPECT_FALSE(model.Import().ok());
}

TEST(OnnxImport, ShapeArithmeticFoldsAway) {
  Model model;
  model.AddInput("x", {"2", "3", "4"});
  model.AddInts("zero", {0});
  model.AddInts("rest", {-1});
  model.AddNode("Shape", {"x"}, {"shape"});
  model.AddNode("Gather", {"shape", "zero"}, {"batch"});
  model.AddNode("Concat", {"batch", "rest"}, {"target"})->add_attribute();
  NodeProto* concat = model.proto.mutable_graph()->mutable_node(2);
  concat->clear_attribute();
  AddAttribute(concat, "axis", AttributeProto::INT)->set_i(0);
  model.AddNode("Reshape", {"x", "target"}, {"y"});
  model.AddOutput("y");
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].value->type().shape(), Shape({2, 12}));
  EXPECT_EQ((*graph)->nodes().size(), 1U);
}

// Reshape by a graph input needs its value; the input is then removed from the graph.
TEST(OnnxImport, ValuesOfInputsDetermineShapesOnly) {
  Model model;
  model.AddInput("x", {"2", "3"});
  model.AddInput("shape", {"1"}, TensorProto::INT64);
  model.AddNode("Reshape", {"x", "shape"}, {"y"})->set_name("flatten");
  model.AddOutput("y");
  EXPECT_EQ(model.Error(),
            "not supported: Reshape flatten: its shape must be known: it depends on the values of input "
            "'shape'; give them with --input shape=FILE");
  const auto graph = model.Import({.input_values = {{"shape", Tensor::FromInts(Ints{6})}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ((*graph)->inputs().size(), 1U);
  EXPECT_EQ((*graph)->inputs()[0]->name(), "x");
}

TEST(OnnxImport, DataIsNeverFoldedFromInputValues) {
  Model model = OneNode("Relu");
  const auto graph = model.Import({.input_values = {{"x", Tensor(DType::kF32, {2, 3})}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->inputs().size(), 1U);
  EXPECT_EQ((*graph)->outputs()[0].value->producer()->op(), Op::kRelu);
}

// Inputs' values are only used where shapes depend on them.
TEST(OnnxImport, PadsWithAValueThatIsData) {
  Model model;
  model.AddInput("x", {"2"});
  model.AddInput("pads", {"2"}, TensorProto::INT64);
  model.AddInput("value", {});
  model.AddNode("Pad", {"x", "pads", "value"}, {"y"});
  model.AddOutput("y");
  const auto graph = model.Import(
      {.input_values = {{"pads", Tensor::FromInts(Ints{1, 2})}, {"value", Tensor::Scalar(DType::kF32, 7)}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ((*graph)->inputs().size(), 2U);
  const std::vector<float> x = {3, 4}, expected = {9, 3, 4, 9, 9};
  const auto outputs =
      Interpreter().Run(**graph, {Tensor::FromFloats(x, {2}), Tensor::Scalar(DType::kF32, 9)});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_TRUE(outputs->front().Identical(Tensor::FromFloats(expected, {5})));
}

// A function with its own attribute, called twice; the second call uses the default.
TEST(OnnxImport, FunctionsAreInlinedWithTheirAttributes) {
  Model model;
  model.AddOpset("local", 1);
  FunctionProto* function = model.proto.add_functions();
  function->set_domain("local");
  function->set_name("Slope");
  function->add_input("in");
  function->add_output("out");
  OperatorSetIdProto* opset = function->add_opset_import();
  opset->set_version(17);
  AttributeProto* fallback = function->add_attribute_proto();
  fallback->set_name("slope");
  fallback->set_type(AttributeProto::FLOAT);
  fallback->set_f(0.5F);
  NodeProto* body = Model::FillNode(function->add_node(), "LeakyRelu", {"in"}, {"out"});
  AddAttribute(body, "alpha", AttributeProto::FLOAT)->set_ref_attr_name("slope");
  model.AddInput("x", {"2"});
  NodeProto* call = model.AddNode("Slope", {"x"}, {"a"});
  call->set_domain("local");
  AddAttribute(call, "slope", AttributeProto::FLOAT)->set_f(0.25F);
  model.AddNode("Slope", {"a"}, {"b"})->set_domain("local");
  model.AddOutput("b");
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<double> slopes;
  for (const auto& node : (*graph)->nodes()) slopes.push_back(node->attrs().Float("alpha"));
  EXPECT_THAT(slopes, ElementsAre(0.25, 0.5));
}

TEST(OnnxImport, RecursiveFunctionsEnd) {
  Model model;
  model.AddOpset("local", 1);
  FunctionProto* function = model.proto.add_functions();
  function->set_domain("local");
  function->set_name("Forever");
  function->add_input("in");
  function->add_output("out");
  function->add_opset_import()->set_domain("local");
  Model::FillNode(function->add_node(), "Forever", {"in"}, {"out"})->set_domain("local");
  model.AddInput("x", {"2"});
  model.AddNode("Forever", {"x"}, {"y"})->set_domain("local");
  model.AddOutput("y");
  EXPECT_THAT(model.Error(), HasSubstr("nest more than"));
}

// Each function calls the next one twice: 2^40 nodes.
TEST(OnnxImport, CallsThatMultiplyAreRefused) {
  Model model;
  model.AddOpset("local", 1);
  for (int i = 0; i < 40; ++i) {
    FunctionProto* function = model.proto.add_functions();
    function->set_domain("local");
    function->set_name("F" + std::to_string(i));
    function->add_input("in");
    function->add_output("out");
    function->add_opset_import()->set_domain("local");
    const std::string next = "F" + std::to_string(i + 1);
    Model::FillNode(function->add_node(), next, {"in"}, {"mid"})->set_domain("local");
    Model::FillNode(function->add_node(), next, {"mid"}, {"out"})->set_domain("local");
  }
  FunctionProto* last = model.proto.add_functions();
  last->set_domain("local");
  last->set_name("F40");
  last->add_input("in");
  last->add_output("out");
  last->add_opset_import()->set_version(17);
  Model::FillNode(last->add_node(), "Neg", {"in"}, {"out"});
  model.AddInput("x", {"2"});
  model.AddNode("F0", {"x"}, {"y"})->set_domain("local");
  model.AddOutput("y");
  EXPECT_THAT(model.Error(), HasSubstr("unrolls to too many operators"));
}

TEST(OnnxImport, FoldsIfWithAKnownConditionAndKeepsOthers) {
  for (const bool known : {true, false}) {
    Model model;
    model.AddInput("x", {"2"});
    if (known) {
      TensorProto* condition = model.proto.mutable_graph()->add_initializer();
      condition->set_name("c");
      condition->set_data_type(TensorProto::BOOL);
      condition->add_int32_data(1);
    } else {
      model.AddInput("c", {}, TensorProto::BOOL);
    }
    NodeProto* node = model.AddNode("If", {"c"}, {"y"});
    for (const std::string branch : {"then_branch", "else_branch"}) {
      GraphProto* body = AddAttribute(node, branch, AttributeProto::GRAPH)->mutable_g();
      Model::FillNode(body->add_node(), branch == "then_branch" ? "Neg" : "Abs", {"x"}, {branch + "_y"});
      body->add_output()->set_name(branch + "_y");
    }
    model.AddOutput("y");
    const auto graph = model.Import();
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ((*graph)->outputs()[0].value->producer()->op(), known ? Op::kNeg : Op::kIf);
  }
}

// The branches' shapes differ, so the condition must be known: it is computed from the input's value.
TEST(OnnxImport, TakesABranchByTheInputsValueWhereShapesDependOnIt) {
  Model model;
  model.AddInput("x", {"2"});
  model.AddInput("c", {}, TensorProto::BOOL);
  model.AddInts("axes", {0});
  NodeProto* node = model.AddNode("If", {"c"}, {"y"});
  node->set_name("choice");
  for (const std::string branch : {"then_branch", "else_branch"}) {
    GraphProto* body = AddAttribute(node, branch, AttributeProto::GRAPH)->mutable_g();
    const std::vector<std::string> inputs =
        branch == "then_branch" ? std::vector<std::string>{"x", "axes"} : std::vector<std::string>{"x"};
    Model::FillNode(body->add_node(), branch == "then_branch" ? "Unsqueeze" : "Neg", inputs, {branch + "_y"});
    body->add_output()->set_name(branch + "_y");
  }
  model.AddOutput("y");
  EXPECT_THAT(model.Error(), HasSubstr("choice"));
  const auto graph = model.Import({.input_values = {{"c", Tensor::Scalar(DType::kBool, 1)}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].value->type().shape(), Shape({1, 2}));
  EXPECT_EQ((*graph)->inputs().size(), 1U);
}

TEST(OnnxImport, RefusesWhatIsNoModel) {
  const auto error = [](const std::string& bytes) {
    return std::string(importing::ImportOnce(ParseOnnx(bytes, ""), {}).status().message());
  };
  EXPECT_THAT(error(""), HasSubstr("empty"));
  EXPECT_THAT(error("this is text, not a model"), HasSubstr("does not parse"));
  const std::string whole = OneNode("Relu").proto.SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(importing::ImportOnce(ParseOnnx(whole.substr(0, size), ""), {}).ok()) << size;
  }
  Model model = OneNode("Relu");
  model.proto.clear_opset_import();
  EXPECT_THAT(model.Error(), HasSubstr("does not say which opset"));
  model.proto.set_ir_version(99);
  EXPECT_THAT(model.Error(), HasSubstr("not supported: Model ir_version"));
}

TEST(OnnxImport, TensorDataMustFitItsShape) {
  Model model = OneNode("Relu");
  TensorProto* tensor = model.AddInts("w", {1, 2, 3});
  tensor->set_dims(0, 4);
  EXPECT_THAT(model.Error(), HasSubstr("'w' has 3 values, its shape needs 4"));
  tensor->clear_int64_data();
  tensor->set_dims(0, int64_t{1} << 60);
  tensor->set_raw_data("12345678");
  EXPECT_THAT(model.Error(), HasSubstr("'w'"));
}

TEST(OnnxImport, UnpacksNarrowIntegers) {
  TensorProto tensor;
  tensor.set_data_type(TensorProto::INT4);
  tensor.add_dims(3);
  tensor.set_raw_data(std::string("\xF1\x08", 2));
  const auto data = TensorFromOnnxProto(tensor.SerializeAsString());
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->dtype(), DType::kI8);
  EXPECT_THAT(data->ToInts(), ElementsAre(1, -1, -8));
}

// ceil_mode adds a window whose last element is neither in the image nor in its padding: it is no part of a
// sum.
TEST(OnnxImport, LpPoolSumsWhatOverhangingWindowsCover) {
  Model model;
  model.proto.mutable_opset_import(0)->set_version(18);
  model.AddInput("x", {"1", "1", "5"});
  NodeProto* pool = model.AddNode("LpPool", {"x"}, {"y"});
  AddAttribute(pool, "p", AttributeProto::INT)->set_i(1);
  AddAttribute(pool, "kernel_shape", AttributeProto::INTS)->add_ints(2);
  AddAttribute(pool, "strides", AttributeProto::INTS)->add_ints(2);
  AddAttribute(pool, "ceil_mode", AttributeProto::INT)->set_i(1);
  model.AddOutput("y");
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  Tensor x(DType::kF32, {1, 1, 5});
  std::ranges::copy(std::vector<float>{1, -2, 3, 4, -5}, x.as_mutable<float>().begin());
  const auto y = Interpreter().Run(**graph, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT(y->front().as<float>(), ElementsAre(3, 7, 5));
}

TEST(OnnxImport, SparseInitializersTakeNoMemoryUntilUsed) {
  Model model = OneNode("Relu");
  SparseTensorProto* sparse = model.proto.mutable_graph()->add_sparse_initializer();
  sparse->mutable_values()->set_name("w");
  sparse->mutable_values()->set_data_type(TensorProto::FLOAT);
  sparse->mutable_values()->add_dims(1);
  sparse->mutable_values()->add_float_data(2);
  sparse->mutable_indices()->set_data_type(TensorProto::INT64);
  sparse->mutable_indices()->add_dims(1);
  sparse->mutable_indices()->add_int64_data(5);
  sparse->add_dims(int64_t{1} << 36);
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->nodes().size(), 1U);
  sparse->mutable_indices()->set_int64_data(0, int64_t{1} << 36);
  EXPECT_THAT(model.Error(), HasSubstr("index is out of range"));
}

TEST(OnnxImport, GraphsAtSeveralShapesShareWeights) {
  Model model;
  model.AddInput("x", {"N", "2"});
  TensorProto* weights = model.proto.mutable_graph()->add_initializer();
  weights->set_name("w");
  weights->set_data_type(TensorProto::FLOAT);
  for (const int64_t size : {2, 3}) weights->add_dims(size);
  weights->set_raw_data(std::string(2 * 3 * sizeof(float), '\x3F'));
  model.AddNode("MatMul", {"x", "w"}, {"y"});
  model.AddOutput("y");
  importing::ExpectSharedWeights(ParseOnnx(model.proto.SerializeAsString(), ""), 2);
}

}  // namespace
}  // namespace attune::onnx
