#include "import/tensorflow/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "import/common/shared_weights_for_test.h"
#include "import/tensorflow/testing/model_builder.h"

namespace attune::tensorflow {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// x [2,3] → y.
GraphBuilder OneNode(const std::string& op) {
  GraphBuilder model;
  model.Placeholder("x", {2, 3});
  model.Add(op, "y", {"x"});
  return model;
}

TEST(TensorflowImport, ImportsANodeWithItsOutputFound) {
  const auto graph = OneNode("Relu").Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->inputs()[0]->name(), "x");
  EXPECT_EQ((*graph)->outputs()[0].name, "y");
  EXPECT_EQ((*graph)->outputs()[0].value->producer()->op(), Op::kRelu);
}

TEST(TensorflowImport, RunsASmallNetworkOnChannelsLastImages) {
  GraphBuilder model;
  model.Placeholder("x", {1, 2, 2, 1});
  model.Floats("filter", {1, 1, 1, 2}, {2, -1});
  model.Floats("ones", {2}, {1, 1});
  model.Floats("offset", {2}, {0, 1});
  model.Floats("zeros", {2}, {0, 0});
  model.Floats("dense", {2, 1}, {1, 3});
  model.Integers("shape", {-1, 2});
  model.Add("Conv2D", "conv", {"x", "filter"}).Ints("strides", {1, 1, 1, 1}).String("padding", "SAME");
  model.Add("FusedBatchNormV3", "norm", {"conv", "ones", "offset", "zeros", "ones"})
      .Float("epsilon", 0)
      .Bool("is_training", false);
  model.Add("Relu", "relu", {"norm:0"});
  model.Add("MaxPool", "pool", {"relu"})
      .Ints("ksize", {1, 2, 2, 1})
      .Ints("strides", {1, 2, 2, 1})
      .String("padding", "VALID");
  model.Add("Reshape", "flat", {"pool", "shape"});
  model.Add("MatMul", "y", {"flat", "dense"});
  // Channel 0: the maximum of 2x is 8; channel 1: that of 1 - x is 2.
  EXPECT_THAT(model.Run({F32({1, 2, 2, 1}, {-1, 2, 3, 4})}), ElementsAre(DoubleNear(8 + 3 * 2, 1e-6)));
}

TEST(TensorflowImport, PadsOfSameGoToTheEnd) {
  GraphBuilder model;
  model.Placeholder("x", {1, 2, 2, 1});
  model.Floats("filter", {2, 2, 1, 1}, {1, 1, 1, 1});
  model.Add("Conv2D", "y", {"x", "filter"}).Ints("strides", {1, 1, 1, 1}).String("padding", "SAME");
  EXPECT_THAT(model.Run({F32({1, 2, 2, 1}, {1, 2, 3, 4})}), ElementsAre(10, 6, 7, 4));
}

TEST(TensorflowImport, DepthwiseChannelsMultiply) {
  GraphBuilder model;
  model.Placeholder("x", {1, 1, 1, 2});
  model.Floats("filter", {1, 1, 2, 2}, {1, 2, 3, 4});
  model.Add("DepthwiseConv2dNative", "y", {"x", "filter"})
      .Ints("strides", {1, 1, 1, 1})
      .String("padding", "VALID");
  EXPECT_THAT(model.Run({F32({1, 1, 1, 2}, {10, 100})}), ElementsAre(10, 20, 300, 400));
}

TEST(TensorflowImport, ConvolutionsTurnAround) {
  GraphBuilder model;
  model.Placeholder("x", {1, 1, 2, 1});
  model.Integers("sizes", {1, 2, 4, 1});
  model.Floats("filter", {2, 2, 1, 1}, {1, 2, 3, 4});
  model.Add("Conv2DBackpropInput", "y", {"sizes", "filter", "x"})
      .Ints("strides", {1, 2, 2, 1})
      .String("padding", "SAME");
  EXPECT_THAT(model.Run({F32({1, 1, 2, 1}, {1, 10})}), ElementsAre(1, 2, 10, 20, 3, 4, 30, 40));
}

TEST(TensorflowImport, ResizesByTheThreeConventions) {
  const auto resized = [](const char* flag) {
    GraphBuilder model;
    model.Placeholder("x", {1, 1, 2, 1});
    model.Integers("size", {1, 4});
    NodeBuilder node = model.Add("ResizeBilinear", "y", {"x", "size"});
    if (*flag != '\0') node.Bool(flag, true);
    return model.Run({F32({1, 1, 2, 1}, {0, 3})});
  };
  EXPECT_THAT(resized(""), ElementsAre(0, 1.5, 3, 3));
  EXPECT_THAT(resized("align_corners"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(resized("half_pixel_centers"), ElementsAre(0, 0.75, 2.25, 3));
}

TEST(TensorflowImport, ListsEverythingThatIsNotSupportedAtOnce) {
  GraphBuilder model = OneNode("Relu");
  model.Add("NoSuchOperator", "first", {"y"});
  model.Add("Relu", "between", {"first"});
  model.Add("Frobnicate", "second", {"between"});
  model.Add("RandomStandardNormal", "third", {"y"});
  const absl::Status status = model.Import().status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_EQ(status.message(),
            "not supported: NoSuchOperator first: no such operator is known\n"
            "not supported: Frobnicate second: no such operator is known\n"
            "not supported: RandomStandardNormal third: it makes random numbers");
}

TEST(TensorflowImport, NodesMayComeInAnyOrderButNotInACircle) {
  GraphBuilder model;
  model.Add("Neg", "y", {"middle"});
  model.Add("Neg", "middle", {"x"});
  model.Placeholder("x", {2});
  EXPECT_THAT(model.Run({F32({2}, {1, 2})}), ElementsAre(1, 2));
  model.graph.mutable_node(1)->set_input(0, "y");
  EXPECT_THAT(model.Error(), HasSubstr("no node of the graph looks like an output"));
  model.Add("Neg", "end", {"y"});
  EXPECT_THAT(model.Error(), HasSubstr("depends on its own result"));
  model.graph.mutable_node(1)->set_input(0, "nobody");
  EXPECT_THAT(model.Error(), HasSubstr("'nobody'"));
}

TEST(TensorflowImport, ShapeArithmeticFoldsAway) {
  GraphBuilder model;
  model.Placeholder("x", {2, 3, 4});
  model.Integers("zero", {0});
  model.Integers("one", {1});
  model.Integer("rest", -1);
  model.Add("Shape", "shape", {"x"});
  model.Add("StridedSlice", "batch", {"shape", "zero", "one", "one"}).Int("shrink_axis_mask", 1);
  model.Add("Pack", "target", {"batch", "rest"});
  model.Add("Reshape", "y", {"x", "target"});
  const auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].value->type().shape(), Shape({2, 12}));
  EXPECT_EQ((*graph)->nodes().size(), 1U);
}

TEST(TensorflowImport, SlicesByTheirMasks) {
  struct Case {
    std::vector<int64_t> begin, end, strides;
    std::vector<std::pair<std::string, int64_t>> masks;
    Shape shape;
    std::vector<double> expected;
  };
  const std::vector<Case> cases = {
      {{1, 1}, {3, 3}, {1, 1}, {}, {2, 2}, {5, 6, 9, 10}},
      {{-1}, {0}, {1}, {{"shrink_axis_mask", 1}}, {4}, {8, 9, 10, 11}},
      {{0, 0}, {0, 0}, {-1, 2}, {{"begin_mask", 3}, {"end_mask", 3}}, {3, 2}, {8, 10, 4, 6, 0, 2}},
      {{0, 1}, {0, 2}, {1, 1}, {{"ellipsis_mask", 1}}, {3, 1}, {1, 5, 9}},
      {{0, 2}, {0, 9}, {1, 1}, {{"new_axis_mask", 1}}, {1, 1, 4}, {8, 9, 10, 11}},
      {{2}, {1}, {1}, {}, {0, 4}, {}},
  };
  std::vector<float> numbers(12);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    GraphBuilder model;
    model.Placeholder("x", {3, 4});
    model.Integers("begin", cases[i].begin);
    model.Integers("end", cases[i].end);
    model.Integers("strides", cases[i].strides);
    NodeBuilder node = model.Add("StridedSlice", "y", {"x", "begin", "end", "strides"});
    for (const auto& [name, mask] : cases[i].masks) node.Int(name, mask);
    const auto graph = model.Import();
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ((*graph)->outputs()[0].value->type().shape(), cases[i].shape);
    EXPECT_THAT(model.Run({F32({3, 4}, numbers)}), ElementsAreArray(cases[i].expected));
  }
}

TEST(TensorflowImport, OpenDimensionsAreListedWithAnExample) {
  GraphBuilder model;
  model.Placeholder("image", {-1, -1, -1, 3});
  model.Add("Relu", "y", {"image"});
  EXPECT_THAT(model.Error(), HasSubstr("--shape image=1x224x224x3"));
  const auto graph = model.Import(WithShape("image", {2, 8, 8, 3}));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->inputs()[0]->type().shape(), Shape({2, 8, 8, 3}));
  EXPECT_THAT(model.Error(WithShape("image", {2, 8, 8, 1})), HasSubstr("but [2,8,8,1] was given"));
}

// Dropout in its older and newer form; everything is kept.
TEST(TensorflowImport, DropoutThatKeepsEverythingFoldsAway) {
  GraphBuilder model;
  model.Placeholder("x", {2});
  model.Placeholder("keep", {});
  model.Integers("shape", {2});
  model.Floats("rate", {}, {0});
  model.Add("RandomUniform", "random", {"shape"}).Type("dtype", DT_FLOAT);
  model.Add("Add", "sum", {"keep", "random"});
  model.Add("Floor", "mask", {"sum"});
  model.Add("GreaterEqual", "kept", {"random", "rate"});
  model.Add("Cast", "kept_number", {"kept"}).Type("DstT", DT_FLOAT);
  model.Add("Mul", "half", {"x", "mask"});
  model.Add("Mul", "y", {"half", "kept_number"});
  EXPECT_THAT(model.Error(), HasSubstr("not supported: Add sum"));
  ImportOptions options;
  options.input_values["keep"] = Tensor::Scalar(DType::kF32, 1);
  EXPECT_THAT(model.Run({F32({2}, {5, 7})}, options), ElementsAre(5, 7));
  options.input_values["keep"] = Tensor::Scalar(DType::kF32, 0.5);
  EXPECT_THAT(model.Error(options), HasSubstr("random numbers"));
}

// As in tf.quantization.dequantize; MIN_FIRST moves the minimum to a multiple of the step.
TEST(TensorflowImport, DequantizesConstants) {
  const auto run = [](const std::string& mode, DataType type, const std::vector<int>& values, float min,
                      float max) {
    GraphBuilder model;
    model.Placeholder("x", {3});
    NodeDef* node = model.Add("Const", "q", {}).node();
    TensorProto* tensor = (*node->mutable_attr())["value"].mutable_tensor();
    tensor->set_dtype(type);
    tensor->mutable_tensor_shape()->add_dim()->set_size(static_cast<int64_t>(values.size()));
    for (int value : values) tensor->add_int_val(value);
    model.Floats("min", {}, {min});
    model.Floats("max", {}, {max});
    model.Add("Dequantize", "w", {"q", "min", "max"}).String("mode", mode).Type("T", type);
    model.Add("Add", "y", {"x", "w"});
    return model.Run({F32({3}, {0, 0, 0})});
  };
  const auto near = [](double a, double b, double c) {
    return ElementsAre(DoubleNear(a, 1e-5), DoubleNear(b, 1e-5), DoubleNear(c, 1e-5));
  };
  EXPECT_THAT(run("MIN_COMBINED", DT_QUINT8, {0, 51, 255}, -1, 4), near(-1, 0, 4));
  EXPECT_THAT(run("MIN_COMBINED", DT_QINT8, {-128, -77, 127}, -1, 4), near(-1, 0, 4));
  // The step is 0.02; -0.513 becomes -0.52.
  EXPECT_THAT(run("MIN_FIRST", DT_QUINT8, {0, 26, 255}, -0.513F, 4.587F), near(-0.52, 0, 4.58));
  EXPECT_THAT(run("MIN_FIRST", DT_QINT8, {-128, -102, 127}, -0.513F, 4.587F), near(-0.52, 0, 4.58));
  EXPECT_THAT(run("SCALED", DT_QUINT8, {0, 51, 255}, 0, 5), near(0, 1, 5));
  EXPECT_THAT(run("SCALED", DT_QINT8, {-128, 0, 127}, -2, 1.27F), near(-2, 0, 127 * 2.0 / 128));
}

TEST(TensorflowImport, FakeQuantizationRoundsToItsGrid) {
  GraphBuilder model;
  model.Placeholder("x", {4});
  model.Floats("min", {}, {0});
  model.Floats("max", {}, {15});
  model.Add("FakeQuantWithMinMaxVars", "y", {"x", "min", "max"}).Int("num_bits", 4);
  EXPECT_THAT(model.Run({F32({4}, {-3, 1.25, 2.75, 99})}), ElementsAre(0, 1, 3, 15));
}

TEST(TensorflowImport, EinsumContracts) {
  GraphBuilder model;
  model.Placeholder("a", {2, 2});
  model.Placeholder("b", {2, 2});
  model.Add("Einsum", "y", {"a", "b"}).String("equation", "ij,kj->ki");
  EXPECT_THAT(model.Run({F32({2, 2}, {1, 2, 3, 4}), F32({2, 2}, {5, 6, 7, 8})}), ElementsAre(17, 39, 23, 53));
}

TEST(TensorflowImport, SpaceToBatchAndBackIsWhatItWas) {
  GraphBuilder model;
  model.Placeholder("x", {1, 3, 3, 1});
  model.Integers("block", {2, 2});
  NodeDef* pads = model.graph.add_node();
  FillIntegers(pads, "pads", {0, 1, 0, 1});
  TensorShapeProto* shape = (*pads->mutable_attr())["value"].mutable_tensor()->mutable_tensor_shape();
  shape->mutable_dim(0)->set_size(2);
  shape->add_dim()->set_size(2);
  model.Add("SpaceToBatchND", "apart", {"x", "block", "pads"});
  model.Add("BatchToSpaceND", "y", {"apart", "block", "pads"});
  EXPECT_THAT(model.Run({F32({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(TensorflowImport, RefusesWhatIsNoModel) {
  const auto error = [](const std::string& bytes) {
    return std::string(importing::ImportOnce(ParseTensorflow(bytes, ""), {}).status().message());
  };
  EXPECT_THAT(error(""), HasSubstr("empty"));
  EXPECT_THAT(error("this is text, not a model"), HasSubstr("no TensorFlow model"));
  EXPECT_THAT(error("\x89HDF\r\n\x1a\n"), HasSubstr("export('FOLDER')"));
  const std::string whole = OneNode("Relu").graph.SerializeAsString();
  EXPECT_TRUE(LooksLikeTensorflow(whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    // A graph cut between two nodes still parses, but lacks an input of one of them.
    (void)importing::ImportOnce(ParseTensorflow(whole.substr(0, size), ""), {});
  }
}

TEST(TensorflowImport, ConstantsMustFitTheirShapes) {
  GraphBuilder model = OneNode("Relu");
  model.Floats("w", {3}, {1, 2, 3, 4});
  model.Add("Neg", "z", {"w"});
  EXPECT_THAT(model.Error(), HasSubstr("has 4 values, its shape needs 3"));
  TensorProto* tensor = (*model.graph.mutable_node(2)->mutable_attr())["value"].mutable_tensor();
  tensor->clear_float_val();
  tensor->add_float_val(7);
  EXPECT_TRUE(model.Import().ok());  // one value is repeated for all elements
  tensor->mutable_tensor_shape()->mutable_dim(0)->set_size(int64_t{1} << 40);
  EXPECT_FALSE(model.Import().ok());
  tensor->mutable_tensor_shape()->mutable_dim(0)->set_size(-1);
  EXPECT_THAT(model.Error(), HasSubstr("open"));
}

// A scalar of one byte can expand to a large shape: count it before creating it.
TEST(TensorflowImport, ImpliedConstantsAreCountedFirst) {
  GraphBuilder model;
  model.Placeholder("x", {2});
  model.Floats("w", {int64_t{1} << 38}, {1});
  model.Add("Neg", "z", {"w"});
  EXPECT_THAT(model.Error(), HasSubstr("asks for tables that are too large"));
}

TEST(TensorflowImport, OutputsBeyondAnyNodesAreErrors) {
  GraphBuilder model = OneNode("Relu");
  model.Add("Neg", "z", {"y:2147483647"});
  EXPECT_THAT(model.Error(), HasSubstr("'y:2147483647' names no output"));
  GraphBuilder called;
  called.Placeholder("x", {2});
  FunctionBuilder function(called.graph, "f", {"a"});
  function.Add("Unpack", "parts", {"a"}).Int("num", 2);
  function.Add("Neg", "last", {"parts:output:2147483647"});
  function.Return("last:y:0");
  called.Add("f", "y", {"x"});
  EXPECT_THAT(called.Error(), HasSubstr("names no output"));
}

TEST(TensorflowImport, HostileArgumentsAreErrors) {
  const auto error_of = [](const std::string& op, const std::vector<int64_t>& argument) {
    GraphBuilder model;
    model.Placeholder("x", {1, 4, 4, 1});
    model.Integers("argument", argument);
    model.Add(op, "y", {"x", "argument"});
    return model.Error();
  };
  EXPECT_NE(error_of("Reshape", {-1, 0}), "");
  EXPECT_NE(error_of("Reshape", {-1, -1}), "");
  EXPECT_NE(error_of("Reshape", {INT32_MAX, INT32_MAX, INT32_MAX}), "");
  EXPECT_NE(error_of("Tile", {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}), "");
  EXPECT_NE(error_of("Transpose", {0, 0, 1, 2}), "");
  EXPECT_NE(error_of("ResizeBilinear", {0, 0}), "");
  EXPECT_NE(error_of("ExpandDims", {9}), "");
  GraphBuilder model;
  model.Placeholder("x", {1, 4, 4, 1});
  model.Floats("filter", {2, 2, 0, 1}, {});
  model.Add("Conv2D", "y", {"x", "filter"}).Ints("strides", {1, 0, 0, 1}).String("padding", "SAME");
  EXPECT_NE(model.Error(), "");
}

TEST(TensorflowImport, NoIndexCountsFromTheEnd) {
  const auto end = [](const std::string& op, const std::vector<std::string>& inputs, int64_t index) {
    GraphBuilder model;
    model.Placeholder("x", {3, 2});
    model.Placeholder("i", {1, 1}, DT_INT32);
    model.Integers("axis", {0});
    model.Floats("u", {1, 2}, {1, 2});
    model.Add(op, "y", inputs);
    const auto graph = model.Import();
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (!graph.ok()) return std::string("not imported");
    std::vector<Tensor> values;
    for (const auto& input : (*graph)->inputs()) {
      values.push_back(input->name() == "x" ? F32({3, 2}, {0, 1, 2, 3, 4, 5})
                                            : Tensor::FromInts(Ints{index}, DType::kI32).Reshaped({1, 1}));
    }
    return std::string(Interpreter().Run(**graph, values).status().message());
  };
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"GatherV2", {"x", "i", "axis"}}, {"GatherNd", {"x", "i"}}, {"TensorScatterUpdate", {"x", "i", "u"}}};
  for (const auto& [op, inputs] : cases) {
    EXPECT_EQ(end(op, inputs, 2), "");
    EXPECT_THAT(end(op, inputs, 3), HasSubstr("index 3 in an axis of size 3"));
    EXPECT_THAT(end(op, inputs, -1), HasSubstr("index -1 in an axis of size 3"));
  }
}

TEST(TensorflowImport, GraphsAtSeveralShapesShareWeights) {
  GraphBuilder model;
  model.Placeholder("x", {-1, 2});
  model.Floats("w", {2}, {1, 2});
  model.Add("Mul", "y", {"x", "w"});
  importing::ExpectSharedWeights(ParseTensorflow(model.graph.SerializeAsString(), ""), 2);
}

}  // namespace
}  // namespace attune::tensorflow
