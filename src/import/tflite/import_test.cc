#include "import/tflite/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "import/common/shared_weights_for_test.h"
#include "import/tflite/testing/import.h"

namespace attune::tflite {
namespace {

using schema::ActivationFunctionType;
using schema::Padding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model that computes y from x with an operator without options.
std::string Unary(Code code, const std::vector<int32_t>& shape) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = shape});
  const int y = m.Add({.name = "y", .shape = shape});
  m.AddOp(code, {x}, {y});
  m.SetOutputs({y});
  return m.Finish();
}

TEST(TfliteImport, ImportsAnOperator) {
  const auto graph = ImportBuilt(Unary(Code::TANH, {2, 3}));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->inputs()[0]->name(), "x");
  EXPECT_EQ((*graph)->outputs()[0].name, "y");
  EXPECT_EQ((*graph)->outputs()[0].value->producer()->op(), Op::kTanh);
}

TEST(TfliteImport, ListsEverythingThatIsNotSupportedAtOnce) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {2}});
  for (const char* name : {"a", "b", "c", "d"}) m.Add({.name = name, .shape = {2}});
  m.AddCustom("Frobnicate", {x}, {1});
  m.AddOp(Code::TANH, {1}, {2});
  m.AddOp(Code::READ_VARIABLE, {x}, {3});
  m.AddOp(static_cast<Code>(250), {x}, {4});
  m.SetOutputs({2, 3, 4});
  const absl::Status status = ImportBuilt(m.Finish()).status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_EQ(status.message(),
            "not supported: Frobnicate a: no such operator is known\n"
            "not supported: READ_VARIABLE c: resource variables\n"
            "not supported: BUILTIN_250 d: no such operator is known");
}

// [1, 3, 3, 1] with a kernel of ones: SAME puts the pad at the end, so that the last sums have fewer
// elements.
TEST(TfliteImport, ConvolvesImagesWithChannelsLast) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1, 3, 3, 1}});
  const int w = m.Add({.name = "w", .shape = {2, 2, 2, 1}, .data = BytesOf<float>({1, 1, 1, 1, 0, 0, 0, 2})});
  const int b = m.Add({.name = "b", .shape = {2}, .data = BytesOf<float>({0, -10})});
  const int y = m.Add({.name = "y", .shape = {1, 3, 3, 2}});
  m.AddOp(Code::CONV_2D, {x, w, b}, {y},
          schema::CreateConv2DOptions(m.builder(), Padding::SAME, 1, 1, ActivationFunctionType::RELU));
  m.SetOutputs({y});
  const auto out = RunBuilt(m.Finish(), {FloatTensor({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 3, 3, 1})});
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].shape(), Shape({1, 3, 3, 2}));
  // The second channel is twice the element to the lower right, minus 10.
  EXPECT_THAT(Elements(out), ElementsAre(12, 0, 16, 2, 9, 0, 24, 6, 28, 8, 15, 0, 15, 0, 17, 0, 9, 0));
}

// Two channels with two outputs each, which are adjacent.
TEST(TfliteImport, DepthwiseConvolutionsHaveTheirMultiplier) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1, 1, 2, 2}});
  const int w = m.Add({.name = "w", .shape = {1, 1, 1, 4}, .data = BytesOf<float>({1, 10, 100, 1000})});
  const int y = m.Add({.name = "y", .shape = {1, 1, 2, 4}});
  m.AddOp(Code::DEPTHWISE_CONV_2D, {x, w, -1}, {y},
          schema::CreateDepthwiseConv2DOptions(m.builder(), Padding::VALID, 1, 1));
  m.SetOutputs({y});
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {FloatTensor({1, 2, 3, 4}, {1, 1, 2, 2})})),
              ElementsAre(1, 10, 200, 2000, 3, 30, 400, 4000));
}

TEST(TfliteImport, TransposedConvolutionsMakeTheStatedSize) {
  ModelBuilder m;
  const int size = m.AddInts("size", {1, 3, 3, 1});
  const int w = m.Add({.name = "w", .shape = {1, 2, 2, 1}, .data = BytesOf<float>({1, 2, 3, 4})});
  const int x = m.AddInput({.name = "x", .shape = {1, 1, 1, 1}});
  const int y = m.Add({.name = "y", .shape = {1, 3, 3, 1}});
  m.AddOp(Code::TRANSPOSE_CONV, {size, w, x}, {y},
          schema::CreateTransposeConvOptions(m.builder(), Padding::VALID, 2, 2));
  m.SetOutputs({y});
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {FloatTensor({10}, {1, 1, 1, 1})})),
              ElementsAre(10, 20, 0, 30, 40, 0, 0, 0, 0));
}

TEST(TfliteImport, FullyConnectedTakesRows) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {2, 1, 2}});
  const int w = m.Add({.name = "w", .shape = {3, 2}, .data = BytesOf<float>({1, 0, 0, 1, 1, 1})});
  const int b = m.Add({.name = "b", .shape = {3}, .data = BytesOf<float>({0, 0, -4})});
  const int y = m.Add({.name = "y", .shape = {2, 3}});
  m.AddOp(Code::FULLY_CONNECTED, {x, w, b}, {y},
          schema::CreateFullyConnectedOptions(m.builder(), ActivationFunctionType::RELU6));
  m.SetOutputs({y});
  const auto out = RunBuilt(m.Finish(), {FloatTensor({1, 2, 7, 8}, {2, 1, 2})});
  EXPECT_EQ(out[0].shape(), Shape({2, 3}));
  EXPECT_THAT(Elements(out), ElementsAre(1, 2, 0, 6, 6, 6));
}

// Entries: a new axis, an ellipsis for two axes, and a single element, the last.
TEST(TfliteImport, StridedSlicesReadTheirMasks) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {2, 2, 3}});
  const int begin = m.AddInts("begin", {0, 0, -1});
  const int end = m.AddInts("end", {0, 0, 0});
  const int strides = m.AddInts("strides", {1, 1, 1});
  const int y = m.Add({.name = "y", .shape = {1, 2, 2}});
  m.AddOp(Code::STRIDED_SLICE, {x, begin, end, strides}, {y},
          schema::CreateStridedSliceOptions(m.builder(), 0, 0, 2, 1, 4));
  m.SetOutputs({y});
  const auto out = RunBuilt(m.Finish(), {FloatTensor({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 2, 3})});
  EXPECT_EQ(out[0].shape(), Shape({1, 2, 2}));
  EXPECT_THAT(Elements(out), ElementsAre(2, 5, 8, 11));
}

TEST(TfliteImport, SpaceToBatchAndBackIsTheSame) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1, 3, 2, 1}});
  const int block = m.AddInts("block", {2, 2});
  const int pads =
      m.Add({.name = "pads", .shape = {2, 2}, .type = Type::INT32, .data = BytesOf<int32_t>({0, 1, 0, 0})});
  const int batches = m.Add({.name = "batches", .shape = {4, 2, 1, 1}});
  const int y = m.Add({.name = "y", .shape = {1, 3, 2, 1}});
  m.AddOp(Code::SPACE_TO_BATCH_ND, {x, block, pads}, {batches});
  m.AddOp(Code::BATCH_TO_SPACE_ND, {batches, block, pads}, {y});
  m.SetOutputs({batches, y});
  const auto out = RunBuilt(m.Finish(), {FloatTensor({1, 2, 3, 4, 5, 6}, {1, 3, 2, 1})});
  EXPECT_THAT(Elements(out), ElementsAre(1, 5, 2, 6, 3, 0, 4, 0));
  EXPECT_THAT(Elements(out, 1), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(TfliteImport, VariablesStartAtZero) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1, 2}});
  const int features = m.Add({.name = "features", .shape = {2, 2}, .data = BytesOf<float>({1, 1, 1, -1})});
  const int time = m.Add({.name = "time", .shape = {2, 2}, .data = BytesOf<float>({7, 2, 7, 3})});
  const int state = m.Add({.name = "state", .shape = {1, 4}, .variable = true});
  const int y = m.Add({.name = "y", .shape = {1, 2}});
  m.AddOp(Code::SVDF, {x, features, time, -1, state}, {y}, schema::CreateSVDFOptions(m.builder(), 1));
  m.SetOutputs({y});
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {FloatTensor({5, 1}, {1, 2})})), ElementsAre(12, 12));
}

// A step with zero weights: both gates are 1/2, and the candidate is tanh of its bias.
TEST(TfliteImport, LstmStepsThroughItsSequence) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1, 2, 1}});
  const int zero = m.Add({.name = "zero", .shape = {1, 1}, .data = BytesOf<float>({0})});
  const int none = m.Add({.name = "none", .shape = {1}, .data = BytesOf<float>({0})});
  const int bias = m.Add({.name = "bias", .shape = {1}, .data = BytesOf<float>({100})});
  const int hidden = m.Add({.name = "hidden", .shape = {1, 1}, .variable = true});
  const int cell = m.Add({.name = "cell", .shape = {1, 1}, .variable = true});
  const int y = m.Add({.name = "y", .shape = {1, 2, 1}});
  m.AddOp(Code::UNIDIRECTIONAL_SEQUENCE_LSTM, {x,  zero, zero, zero, zero, zero, zero, zero, zero,   -1,
                                               -1, -1,   none, none, bias, none, -1,   -1,   hidden, cell},
          {y}, schema::CreateUnidirectionalSequenceLSTMOptions(m.builder(), ActivationFunctionType::TANH));
  m.SetOutputs({y});
  const std::vector<double> out = Elements(RunBuilt(m.Finish(), {FloatTensor({1, 2}, {1, 2, 1})}));
  ASSERT_EQ(out.size(), 2U);
  EXPECT_NEAR(out[0], 0.5 * std::tanh(0.5), 1e-6);
  EXPECT_NEAR(out[1], 0.5 * std::tanh(0.75), 1e-6);
}

// Subgraph 1 tests whether x < 10, subgraph 2 doubles x.
TEST(TfliteImport, LoopsRunWhileTheirConditionHolds) {
  ModelBuilder m(3);
  const int x = m.AddInput({.name = "x", .shape = {1}});
  const int y = m.Add({.name = "y", .shape = {1}});
  m.AddOp(Code::WHILE, {x}, {y}, schema::CreateWhileOptions(m.builder(), 1, 2));
  m.SetOutputs({y});
  const int tested = m.AddInput({.name = "tested", .shape = {1}}, 1);
  const int limit = m.Add({.name = "limit", .shape = {1}, .data = BytesOf<float>({10})}, 1);
  const int less = m.Add({.name = "less", .shape = {1}, .type = Type::BOOL}, 1);
  m.AddOp(Code::LESS, {tested, limit}, {less}, 1);
  m.SetOutputs({less}, 1);
  const int old = m.AddInput({.name = "old", .shape = {1}}, 2);
  const int twice = m.Add({.name = "twice", .shape = {1}}, 2);
  m.AddOp(Code::ADD, {old, old}, {twice}, 2);
  m.SetOutputs({twice}, 2);
  const std::string bytes = m.Finish();
  EXPECT_THAT(Elements(RunBuilt(bytes, {FloatTensor({3}, {1})})), ElementsAre(12));
  EXPECT_THAT(Elements(RunBuilt(bytes, {FloatTensor({11}, {1})})), ElementsAre(11));
}

TEST(TfliteImport, ConditionsChooseASubgraph) {
  ModelBuilder m(3);
  const int condition = m.AddInput({.name = "condition", .shape = {}, .type = Type::BOOL});
  const int x = m.AddInput({.name = "x", .shape = {1}});
  const int y = m.Add({.name = "y", .shape = {1}});
  m.AddOp(Code::IF, {condition, x}, {y}, schema::CreateIfOptions(m.builder(), 1, 2));
  m.SetOutputs({y});
  for (const int branch : {1, 2}) {
    const int in = m.AddInput({.name = "in", .shape = {1}}, branch);
    const int out = m.Add({.name = "out", .shape = {1}}, branch);
    m.AddOp(branch == 1 ? Code::NEG : Code::SQUARE, {in}, {out}, branch);
    m.SetOutputs({out}, branch);
  }
  const std::string bytes = m.Finish();
  EXPECT_THAT(Elements(RunBuilt(bytes, {Tensor::Scalar(DType::kBool, 1), FloatTensor({3}, {1})})),
              ElementsAre(-3));
  EXPECT_THAT(Elements(RunBuilt(bytes, {Tensor::Scalar(DType::kBool, 0), FloatTensor({3}, {1})})),
              ElementsAre(9));
}

TEST(TfliteImport, SignaturesNameTheirSubgraph) {
  ModelBuilder m(2);
  for (const int subgraph : {0, 1}) {
    const int x = m.AddInput({.name = "x", .shape = {1}}, subgraph);
    const int y = m.Add({.name = "y", .shape = {1}}, subgraph);
    m.AddOp(subgraph == 0 ? Code::NEG : Code::SQUARE, {x}, {y}, subgraph);
    m.SetOutputs({y}, subgraph);
  }
  m.AddSignature("square", 1, "number", "result");
  const std::string bytes = m.Finish();
  const auto graph = ImportBuilt(bytes, {.signature = "square"});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->inputs()[0]->name(), "number");
  EXPECT_EQ((*graph)->outputs()[0].name, "result");
  EXPECT_EQ((*graph)->outputs()[0].value->producer()->op(), Op::kMul);
  EXPECT_EQ((*ImportBuilt(bytes))->outputs()[0].value->producer()->op(), Op::kNeg);
  EXPECT_THAT(ErrorOf(bytes, {.signature = "cube"}), HasSubstr("no signature 'cube', it has: square"));
}

TEST(TfliteImport, ShapesOfInputsCanBeGiven) {
  const std::string bytes = Unary(Code::TANH, {1, 3});
  const auto graph = ImportBuilt(bytes, {.input_shapes = {{"x", {4, 3}}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].value->type().shape(), Shape({4, 3}));
  EXPECT_THAT(ErrorOf(bytes, {.input_shapes = {{"x", {4}}}}),
              HasSubstr("input 'x' is [1,3] in the model, but [4]"));
  EXPECT_THAT(
      ErrorOf(Unary(Code::TANH, {-1, 3})),
      HasSubstr("leaves dimensions of input 'x' open: [-1,3]; give its shape, for example --shape x=1x3"));
}

TEST(TfliteImport, WhatIsNotSupportedIsListedBeforeShapesAreAskedFor) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {-1, 3}});
  for (const char* name : {"a", "b"}) m.Add({.name = name, .shape = {-1, 3}});
  m.AddCustom("Frobnicate", {x}, {1});
  m.AddOp(Code::READ_VARIABLE, {x}, {2});
  m.SetOutputs({1, 2});
  EXPECT_EQ(ErrorOf(m.Finish()),
            "not supported: Frobnicate a: no such operator is known\n"
            "not supported: READ_VARIABLE b: resource variables");
}

TEST(TfliteImport, ValuesOfInputsDetermineShapesOnly) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {2, 3}});
  const int shape = m.AddInput({.name = "shape", .shape = {1}, .type = Type::INT32});
  const int y = m.Add({.name = "y", .shape = {6}});
  m.AddOp(Code::RESHAPE, {x, shape}, {y});
  m.SetOutputs({y});
  const std::string bytes = m.Finish();
  EXPECT_EQ(ErrorOf(bytes),
            "not supported: RESHAPE y: its shape must be known: it depends on the values of input 'shape'; "
            "give them with --input shape=FILE");
  const auto graph =
      ImportBuilt(bytes, {.input_values = {{"shape", Tensor::FromInts(Ints{6}, DType::kI32)}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->inputs().size(), 1U);
}

// Returns the reference's answer for a model whose operator reads rows of x f32[3,2] by one index. y has
// `shape`.
std::string EndOfIndexing(Code code, const std::vector<int32_t>& index_shape,
                          const std::vector<int32_t>& shape, int64_t index) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {3, 2}});
  const int i = m.AddInput({.name = "i", .shape = index_shape, .type = Type::INT32});
  const int y = m.Add({.name = "y", .shape = shape});
  if (code == Code::GATHER) {
    m.AddOp(code, {x, i}, {y}, schema::CreateGatherOptions(m.builder()));
  } else if (code == Code::SCATTER_ND) {
    const int updates = m.Add({.name = "u", .shape = {1, 2}, .data = BytesOf<float>({1, 2})});
    m.AddOp(code, {i, updates, m.AddInts("shape", {3, 2})}, {y});
  } else if (code == Code::EMBEDDING_LOOKUP) {
    m.AddOp(code, {i, x}, {y});
  } else {
    m.AddOp(code, {x, i}, {y});
  }
  m.SetOutputs({y});
  const auto graph = ImportBuilt(m.Finish());
  EXPECT_TRUE(graph.ok()) << graph.status();
  const Shape of_indices(index_shape.begin(), index_shape.end());
  return std::string(Interpreter()
                         .Run(**graph, {FloatTensor({0, 1, 2, 3, 4, 5}, {3, 2}),
                                        IntTensor({index}, of_indices, DType::kI32)})
                         .status()
                         .message());
}

TEST(TfliteImport, NoIndexCountsFromTheEnd) {
  const std::tuple<Code, std::vector<int32_t>, std::vector<int32_t>> cases[] = {
      {Code::GATHER, {1}, {1, 2}},
      {Code::GATHER_ND, {1, 1}, {1, 2}},
      {Code::EMBEDDING_LOOKUP, {1}, {1, 2}},
      {Code::SCATTER_ND, {1, 1}, {3, 2}}};
  for (const auto& [code, indices, result] : cases) {
    EXPECT_EQ(EndOfIndexing(code, indices, result, 2), "");
    EXPECT_THAT(EndOfIndexing(code, indices, result, 3), HasSubstr("index 3 in an axis of size 3"));
    EXPECT_THAT(EndOfIndexing(code, indices, result, -1), HasSubstr("index -1 in an axis of size 3"));
  }
}

TEST(TfliteImport, GraphsAtSeveralShapesShareWeights) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1, 2}});
  const int w = m.Add({.name = "w", .shape = {2}, .data = BytesOf(std::vector<float>{1, 2})});
  const int y = m.Add({.name = "y", .shape = {1, 2}});
  m.AddOp(Code::MUL, {x, w}, {y});
  m.SetOutputs({y});
  importing::ExpectSharedWeights(ParseTflite(m.Finish()), 2);
}

}  // namespace
}  // namespace attune::tflite
