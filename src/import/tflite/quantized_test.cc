// Tests quantized operators against results of TensorFlow Lite's reference kernels worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/tflite/testing/import.h"

namespace attune::tflite {
namespace {

using schema::ActivationFunctionType;
using schema::Padding;
using ::testing::ElementsAre;

TensorSpec Quantized(const std::string& name, const std::vector<int32_t>& shape, float scale, int64_t zero,
                     Type type = Type::INT8) {
  return {.name = name, .shape = shape, .type = type, .scales = {scale}, .zeros = {zero}};
}

Tensor Bytes(const std::vector<int64_t>& values) {
  return IntTensor(values, {static_cast<int64_t>(values.size())}, DType::kI8);
}

// Computes y = op(x) for vectors; x and y are quantized with the scales 1 and `scale`.
std::vector<double> RunUnary(Code code, const std::vector<int64_t>& x, float scale, int64_t zero) {
  const std::vector<int32_t> shape = {static_cast<int32_t>(x.size())};
  ModelBuilder m;
  const int in = m.AddInput(Quantized("x", shape, 1, 0));
  const int out = m.Add(Quantized("y", shape, scale, zero));
  m.AddOp(code, {in}, {out});
  m.SetOutputs({out});
  return Elements(RunBuilt(m.Finish(), {Bytes(x)}));
}

// 1x1 weights per channel: (x - 1) w plus a bias, times s_x s_w / s_y = {1/4, 1/2}; ties are rounded away
// from zero.
TEST(TfliteQuantized, ConvolutionsSumIntegersAndScaleInFixedPoint) {
  ModelBuilder m;
  const int x = m.AddInput(Quantized("x", {1, 1, 3, 1}, 0.5, 1));
  const int w = m.Add({.name = "w",
                       .shape = {2, 1, 1, 1},
                       .type = Type::INT8,
                       .data = BytesOf<int8_t>({1, -3}),
                       .scales = {0.5, 1},
                       .zeros = {0, 0}});
  const int b = m.Add({.name = "b", .shape = {2}, .type = Type::INT32, .data = BytesOf<int32_t>({0, 2})});
  const int y = m.Add(Quantized("y", {1, 1, 3, 2}, 1, -10));
  m.AddOp(Code::CONV_2D, {x, w, b}, {y},
          schema::CreateConv2DOptions(m.builder(), Padding::VALID, 1, 1, ActivationFunctionType::NONE));
  m.SetOutputs({y});
  const std::string bytes = m.Finish();
  const auto graph = ImportBuilt(bytes);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(Print(**graph), ::testing::HasSubstr("conv_integer"));
  EXPECT_THAT(Print(**graph), ::testing::HasSubstr("fixed_point"));
  // x - 1 is 2, 6, -4.
  EXPECT_THAT(Elements(RunBuilt(bytes, {IntTensor({3, 7, -3}, {1, 1, 3, 1}, DType::kI8)})),
              ElementsAre(-9, -12, -8, -18, -11, -3));
}

// The bounds of RELU6 as integers: 0 is -10, 6 is -4.
TEST(TfliteQuantized, FusedActivationsAreBoundsOnIntegers) {
  ModelBuilder m;
  const int x = m.AddInput(Quantized("x", {1, 2}, 1, 0));
  const int w = m.Add({.name = "w",
                       .shape = {1, 2},
                       .type = Type::INT8,
                       .data = BytesOf<int8_t>({1, 1}),
                       .scales = {1},
                       .zeros = {0}});
  const int y = m.Add(Quantized("y", {1, 1}, 1, -10));
  m.AddOp(Code::FULLY_CONNECTED, {x, w, -1}, {y},
          schema::CreateFullyConnectedOptions(m.builder(), ActivationFunctionType::RELU6));
  m.SetOutputs({y});
  const std::string bytes = m.Finish();
  const auto run = [&](int64_t a, int64_t b) {
    return Elements(RunBuilt(bytes, {IntTensor({a, b}, {1, 2}, DType::kI8)}));
  };
  EXPECT_THAT(run(1, 2), ElementsAre(-7));
  EXPECT_THAT(run(-1, -2), ElementsAre(-10));
  EXPECT_THAT(run(50, 60), ElementsAre(-4));
}

// 5 and -5 with the scale 0.254 are 1.27 and -1.27. Convolutions round them to ±1.5, with one binary place,
// and then to ±2; fully connected layers round them once.
TEST(TfliteQuantized, FullyConnectedLayersRoundOnce) {
  const auto run = [](Code code, const std::vector<int32_t>& shape) {
    ModelBuilder m;
    const std::vector<int32_t> in(shape.size(), 1);
    const int x = m.AddInput(Quantized("x", in, 0.254F, 0));
    const int w = m.Add({.name = "w",
                         .shape = shape,
                         .type = Type::INT8,
                         .data = BytesOf<int8_t>({1, -1}),
                         .scales = {1},
                         .zeros = {0}});
    std::vector<int32_t> out = in;
    out.back() = 2;
    const int y = m.Add(Quantized("y", out, 1, 0));
    if (code == Code::CONV_2D) {
      m.AddOp(code, {x, w}, {y},
              schema::CreateConv2DOptions(m.builder(), Padding::VALID, 1, 1, ActivationFunctionType::NONE));
    } else {
      m.AddOp(code, {x, w, -1}, {y}, schema::CreateFullyConnectedOptions(m.builder()));
    }
    m.SetOutputs({y});
    return Elements(RunBuilt(m.Finish(), {IntTensor({5}, Shape(in.begin(), in.end()), DType::kI8)}));
  };
  EXPECT_THAT(run(Code::CONV_2D, {2, 1, 1, 1}), ElementsAre(2, -2));
  EXPECT_THAT(run(Code::FULLY_CONNECTED, {2, 1}), ElementsAre(1, -1));
}

// 3/2 and -3/2 with scale 2: halves are rounded away from zero.
TEST(TfliteQuantized, SumsRoundHalfAwayFromZero) {
  ModelBuilder m;
  const int a = m.AddInput(Quantized("a", {3}, 0.5, 0));
  const int b = m.AddInput(Quantized("b", {3}, 0.5, 0));
  const int y = m.Add(Quantized("y", {3}, 1, 0));
  m.AddOp(Code::ADD, {a, b}, {y});
  m.SetOutputs({y});
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {Bytes({1, -1, 4}), Bytes({2, -2, 1})})), ElementsAre(2, -2, 3));
}

TEST(TfliteQuantized, ProductsScaleInFixedPoint) {
  ModelBuilder m;
  const int a = m.AddInput(Quantized("a", {3}, 0.5, 1));
  const int b = m.AddInput(Quantized("b", {3}, 0.25, 0));
  const int y = m.Add(Quantized("y", {3}, 0.5, 5));
  m.AddOp(Code::MUL, {a, b}, {y});
  m.SetOutputs({y});
  // (a - 1) b / 4 + 5
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {Bytes({3, 4, 0}), Bytes({3, 2, 6})})), ElementsAre(7, 7, 3));
}

// A step of the output is so small that every product except 0 is out of range.
TEST(TfliteQuantized, FactorsBeyondTheirRangeSaturate) {
  for (const float scale : {1e-30F, 1e-38F}) {
    ModelBuilder m;
    const int a = m.AddInput(Quantized("a", {3}, 1e30F, 0));
    const int b = m.AddInput(Quantized("b", {3}, 1e30F, 0));
    const int y = m.Add(Quantized("y", {3}, scale, 5));
    m.AddOp(Code::MUL, {a, b}, {y});
    m.SetOutputs({y});
    EXPECT_THAT(Elements(RunBuilt(m.Finish(), {Bytes({1, 1, 0}), Bytes({1, -1, 7})})),
                ElementsAre(127, -128, 5));
  }
  // Only the product in f32 is out of range.
  ModelBuilder m;
  const int a = m.AddInput(Quantized("a", {2}, 1e30F, 0));
  const int b = m.AddInput(Quantized("b", {2}, 1e8F, 0));
  const int y = m.Add(Quantized("y", {2}, 1e38F, 0));
  m.AddOp(Code::MUL, {a, b}, {y});
  m.SetOutputs({y});
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {Bytes({3, -2}), Bytes({2, 4})})), ElementsAre(6, -8));
}

// Between i16 and i32, which programs use for inputs and outputs that are sums.
TEST(TfliteQuantized, SumsOfAnotherScale) {
  const auto run = [](Type from, float from_scale, Type to, float to_scale, int64_t zero,
                      const std::vector<int64_t>& x) {
    const std::vector<int32_t> shape = {static_cast<int32_t>(x.size())};
    ModelBuilder m;
    const int in = m.AddInput(Quantized("x", shape, from_scale, 0, from));
    const int out = m.Add(Quantized("y", shape, to_scale, zero, to));
    m.AddOp(Code::QUANTIZE, {in}, {out});
    m.SetOutputs({out});
    const DType dtype = from == Type::INT32 ? DType::kI32 : DType::kI16;
    return Elements(RunBuilt(m.Finish(), {IntTensor(x, {static_cast<int64_t>(x.size())}, dtype)}));
  };
  EXPECT_THAT(run(Type::INT32, 0.5, Type::INT16, 1, 0, {6, -7, 1 << 20}), ElementsAre(3, -3, 32767));
  EXPECT_THAT(run(Type::INT32, 0.5, Type::INT8, 1, 2, {6, -8, 1 << 20}), ElementsAre(5, -2, 127));
  EXPECT_THAT(run(Type::INT16, 1, Type::INT32, 0.25, 0, {5, -7, 32767}), ElementsAre(20, -28, 131068));
  EXPECT_THAT(run(Type::INT16, 1, Type::INT32, 0.25, 3, {5}), ElementsAre(23));
}

TEST(TfliteQuantized, NumbersOfAnotherScale) {
  // Half the integers; the first step of the rounding rounds up.
  EXPECT_THAT(RunUnary(Code::QUANTIZE, {3, -3, 127}, 2, 1), ElementsAre(3, 0, 65));
  EXPECT_THAT(RunUnary(Code::RELU, {3, -3, 127}, 2, 1), ElementsAre(3, 1, 65));
  EXPECT_THAT(RunUnary(Code::RELU6, {3, -3, 127}, 1, 0), ElementsAre(3, 0, 6));
}

TEST(TfliteQuantized, RealOperatorsAreRounded) {
  // The hyperbolic tangents of 0, 1 and -1 in steps of 1/100.
  EXPECT_THAT(RunUnary(Code::TANH, {0, 1, -1}, 0.01F, 3), ElementsAre(3, 79, -73));
}

// The mean of the integers themselves: 3/2 is rounded up, -3/2 down, whatever the zero point.
TEST(TfliteQuantized, AveragesOfRawIntegers) {
  ModelBuilder m;
  const int x = m.AddInput(Quantized("x", {1, 2, 1, 2}, 0.1F, 100));
  const int y = m.Add(Quantized("y", {1, 1, 1, 2}, 0.1F, 100));
  m.AddOp(Code::AVERAGE_POOL_2D, {x}, {y},
          schema::CreatePool2DOptions(m.builder(), Padding::VALID, 1, 1, 1, 2));
  m.SetOutputs({y});
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {IntTensor({1, -1, 2, -2}, {1, 2, 1, 2}, DType::kI8)})),
              ElementsAre(2, -2));
}

TEST(TfliteQuantized, MeansOfImagesScaleTheirSum) {
  ModelBuilder m;
  const int x = m.AddInput(Quantized("x", {1, 2, 2, 1}, 1, 0));
  const int axes = m.AddInts("axes", {1, 2});
  const int y = m.Add(Quantized("y", {1, 1, 1, 1}, 1, 0));
  m.AddOp(Code::MEAN, {x, axes}, {y}, schema::CreateReducerOptions(m.builder(), true));
  m.SetOutputs({y});
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {IntTensor({1, 2, 3, 4}, {1, 2, 2, 1}, DType::kI8)})),
              ElementsAre(3));
}

TEST(TfliteQuantized, PaddingStandsForZero) {
  ModelBuilder m;
  const int x = m.AddInput(Quantized("x", {1}, 1, 7));
  const int pads =
      m.Add({.name = "pads", .shape = {1, 2}, .type = Type::INT32, .data = BytesOf<int32_t>({1, 2})});
  const int y = m.Add(Quantized("y", {4}, 1, 7));
  m.AddOp(Code::PAD, {x, pads}, {y});
  m.SetOutputs({y});
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {Bytes({3})})), ElementsAre(7, 3, 7, 7));
}

// Only the input with another scale is converted.
TEST(TfliteQuantized, ConcatenatesInTheOutputsScale) {
  ModelBuilder m;
  const int a = m.AddInput(Quantized("a", {2}, 1, 0));
  const int b = m.AddInput(Quantized("b", {2}, 2, 1));
  const int y = m.Add(Quantized("y", {4}, 1, 0));
  m.AddOp(Code::CONCATENATION, {a, b}, {y}, schema::CreateConcatenationOptions(m.builder(), 0));
  m.SetOutputs({y});
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {Bytes({5, 6}), Bytes({3, 0})})), ElementsAre(5, 6, 4, -2));
}

TEST(TfliteQuantized, WeightsOfFourBits) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1, 3}});
  const int w = m.Add({.name = "w",
                       .shape = {1, 3},
                       .type = Type::INT4,
                       .data = {0x71, 0x08},
                       .scales = {0.5},
                       .zeros = {0}});
  const int y = m.Add({.name = "y", .shape = {1, 1}});
  m.AddOp(Code::FULLY_CONNECTED, {x, w, -1}, {y}, schema::CreateFullyConnectedOptions(m.builder()));
  m.SetOutputs({y});
  // The weights are 1, 7 and -8 halves.
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {FloatTensor({1, 1, 1}, {1, 3})})), ElementsAre(0));
  EXPECT_THAT(Elements(RunBuilt(m.Finish(), {FloatTensor({1, 1, 0}, {1, 3})})), ElementsAre(4));
}

}  // namespace
}  // namespace attune::tflite
