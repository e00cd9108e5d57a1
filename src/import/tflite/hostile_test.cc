// Malicious or damaged files: one test per kind of flaw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/tflite/testing/import.h"

namespace attune::tflite {
namespace {

using schema::Padding;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// Applies `code` to x and a tensor `w`, which gives y.
std::string Binary(Code code, TensorSpec w, std::vector<int32_t> shape = {1, 4, 4, 1}) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = std::move(shape)});
  const int second = m.Add(std::move(w));
  const int y = m.Add({.name = "y", .shape = {1}});
  m.AddOp(code, {x, second}, {y});
  m.SetOutputs({y});
  return m.Finish();
}

std::string Sum(TensorSpec w) { return Binary(Code::ADD, std::move(w)); }

TEST(TfliteHostile, BytesThatAreNoModel) {
  EXPECT_EQ(ErrorOf(""), "the file is empty");
  EXPECT_THAT(ErrorOf("TFL3"), HasSubstr("does not have the mark TFL3"));
  EXPECT_THAT(ErrorOf(std::string(64, 'x')), HasSubstr("does not have the mark TFL3"));
  EXPECT_FALSE(ErrorOf(std::string("\xff\xff\xff\x7fTFL3", 8)).empty());
}

TEST(TfliteHostile, EveryTruncationIsAnError) {
  const std::string bytes = Sum({.name = "w", .shape = {1}, .data = BytesOf<float>({1})});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ImportBuilt(bytes.substr(0, size)).ok()) << size;
  }
}

// Flipped bytes anywhere give an error or a valid graph.
TEST(TfliteHostile, FlippedBytesDoNoHarm) {
  const std::string bytes = Sum({.name = "w", .shape = {1}, .data = BytesOf<float>({1})});
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      ImportBuilt(changed).IgnoreError();
    }
  }
}

TEST(TfliteHostile, BuffersOutOfRange) {
  EXPECT_THAT(ErrorOf(Sum({.name = "w", .shape = {1}, .buffer = 77})),
              HasSubstr("tensor 1 is in buffer 77 of"));
  EXPECT_THAT(ErrorOf(Sum({.name = "w", .shape = {1}, .offset = 1 << 30, .size = 4})),
              HasSubstr("lie outside of the file"));
  EXPECT_THAT(ErrorOf(Sum({.name = "w", .shape = {1}, .offset = 16, .size = UINT64_MAX})),
              HasSubstr("lie outside of the file"));
}

TEST(TfliteHostile, DataThatDoNotFitTheShape) {
  EXPECT_THAT(ErrorOf(Sum({.name = "w", .shape = {2}, .data = BytesOf<float>({1})})),
              HasSubstr("its data are 4 bytes, its shape needs 8"));
  EXPECT_THAT(ErrorOf(Sum({.name = "w", .shape = {-2}, .data = BytesOf<float>({1})})),
              HasSubstr("a tensor with the dimension -2"));
  const int32_t huge = INT32_MAX;
  EXPECT_THAT(ErrorOf(Sum({.name = "w", .shape = {huge, huge, huge}, .data = BytesOf<float>({1})})),
              HasSubstr("a shape overflows"));
  EXPECT_THAT(ErrorOf(Sum({.name = "w", .shape = {huge, 16}, .data = BytesOf<float>({1})})),
              HasSubstr("tables that are too large"));
}

TEST(TfliteHostile, IndicesOutOfRange) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1}});
  m.AddOp(Code::NEG, {5}, {x});
  m.SetOutputs({x});
  EXPECT_THAT(ErrorOf(m.Finish()), HasSubstr("subgraph 0: operator 0 (NEG): input 0 is tensor 5 of 1"));
  ModelBuilder outputs;
  outputs.AddInput({.name = "x", .shape = {1}});
  outputs.SetOutputs({-1});
  EXPECT_THAT(ErrorOf(outputs.Finish()), HasSubstr("output 0 is tensor -1 of 1"));
  ModelBuilder calls;
  const int in = calls.AddInput({.name = "x", .shape = {1}});
  const int out = calls.Add({.name = "y", .shape = {1}});
  calls.AddOp(Code::CALL, {in}, {out}, schema::CreateCallOptions(calls.builder(), 9));
  calls.SetOutputs({out});
  EXPECT_THAT(ErrorOf(calls.Finish()), HasSubstr("there is no subgraph 9"));
}

TEST(TfliteHostile, SubgraphsThatCallEachOther) {
  ModelBuilder m(2);
  for (const int subgraph : {0, 1}) {
    const int x = m.AddInput({.name = "x", .shape = {1}}, subgraph);
    const int y = m.Add({.name = "y", .shape = {1}}, subgraph);
    m.AddOp(Code::CALL, {x}, {y}, schema::CreateCallOptions(m.builder(), static_cast<uint32_t>(1 - subgraph)),
            subgraph);
    m.SetOutputs({y}, subgraph);
  }
  EXPECT_THAT(ErrorOf(m.Finish()), HasSubstr("subgraph 0 calls itself"));
}

// Each subgraph calls the next one twenty times.
TEST(TfliteHostile, CallsThatMultiply) {
  constexpr int kDepth = 10;
  ModelBuilder m(kDepth);
  for (int subgraph = 0; subgraph < kDepth; ++subgraph) {
    int value = m.AddInput({.name = "x", .shape = {1}}, subgraph);
    for (int i = 0; i < 20; ++i) {
      const int next = m.Add({.name = "y", .shape = {1}}, subgraph);
      if (subgraph + 1 < kDepth) {
        m.AddOp(Code::CALL, {value}, {next},
                schema::CreateCallOptions(m.builder(), static_cast<uint32_t>(subgraph + 1)), subgraph);
      } else {
        m.AddOp(Code::NEG, {value}, {next}, subgraph);
      }
      value = next;
    }
    m.SetOutputs({value}, subgraph);
  }
  EXPECT_THAT(ErrorOf(m.Finish()), AnyOf(HasSubstr("unrolls to too many operators"), HasSubstr("too large")));
}

TEST(TfliteHostile, OperatorsOutOfOrder) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1}});
  const int a = m.Add({.name = "a", .shape = {1}});
  const int b = m.Add({.name = "b", .shape = {1}});
  m.AddOp(Code::ADD, {x, b}, {a});
  m.AddOp(Code::NEG, {a}, {b});
  m.SetOutputs({b});
  EXPECT_THAT(ErrorOf(m.Finish()), HasSubstr("operator 'a' (ADD): tensor 2 ('b'): nothing before it makes"));
  ModelBuilder twice;
  const int in = twice.AddInput({.name = "x", .shape = {1}});
  twice.AddOp(Code::NEG, {in}, {in});
  twice.SetOutputs({in});
  EXPECT_THAT(ErrorOf(twice.Finish()), HasSubstr("it makes tensor 0, which exists already"));
}

TEST(TfliteHostile, WindowsThatDoNotMove) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1, 4, 4, 1}});
  const int y = m.Add({.name = "y", .shape = {1, 4, 4, 1}});
  m.AddOp(Code::MAX_POOL_2D, {x}, {y}, schema::CreatePool2DOptions(m.builder(), Padding::SAME, 0, 1, 2, 2));
  m.SetOutputs({y});
  EXPECT_THAT(ErrorOf(m.Finish()), HasSubstr("its window has the size, stride or dilation 0"));
  // Without options, all of them are 0.
  EXPECT_THAT(
      ErrorOf(Binary(Code::CONV_2D, {.name = "w", .shape = {1, 1, 1, 1}, .data = BytesOf<float>({1})})),
      HasSubstr("its window has the size, stride or dilation 0"));
}

TEST(TfliteHostile, DivisorsOfZero) {
  EXPECT_THAT(ErrorOf(Binary(Code::FULLY_CONNECTED, {.name = "w", .shape = {0, 0}})),
              HasSubstr("its weight is"));
  EXPECT_THAT(
      ErrorOf(Binary(Code::RESHAPE,
                     {.name = "w", .shape = {2}, .type = Type::INT32, .data = BytesOf<int32_t>({0, -1})})),
      HasSubstr("f32[1,4,4,1] cannot take the shape that it asks for"));
}

TEST(TfliteHostile, QuantizationThatDoesNotFit) {
  const auto weight = [](std::vector<float> scales, std::vector<int64_t> zeros, int32_t axis) {
    return Binary(Code::FULLY_CONNECTED, {.name = "w",
                                          .shape = {2, 4},
                                          .type = Type::INT8,
                                          .data = std::vector<uint8_t>(8, 1),
                                          .scales = std::move(scales),
                                          .zeros = std::move(zeros),
                                          .axis = axis});
  };
  EXPECT_THAT(ErrorOf(weight({1, 1}, {0, 0}, 7)), HasSubstr("has 2 scales along axis 7"));
  EXPECT_THAT(ErrorOf(weight({1, 1, 1}, {}, 0)), HasSubstr("has 3 scales along axis 0"));
  EXPECT_THAT(ErrorOf(weight({1, 1}, {0, 0, 0}, 0)), HasSubstr("2 scales and 3 zero points"));
  EXPECT_THAT(ErrorOf(weight({-1}, {0}, 0)), HasSubstr("quantized with the scale -1"));
  EXPECT_THAT(ErrorOf(weight({1}, {1000}, 0)), HasSubstr("quantized with the zero point 1000"));
}

TEST(TfliteHostile, TypesThatDoNotFit) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1}});
  const int y = m.Add({.name = "y", .shape = {1}, .type = Type::INT32});
  m.AddOp(Code::NEG, {x}, {y});
  m.SetOutputs({y});
  EXPECT_THAT(ErrorOf(m.Finish()), HasSubstr("it makes f32[1] where tensor 'y' is of i32"));
}

// The numbers of inputs and outputs must agree with the options.
TEST(TfliteHostile, CountsThatContradict) {
  const auto error = [](Code code, int count) {
    ModelBuilder m;
    const int x = m.AddInput({.name = "x", .shape = {2}});
    const int axis = m.Add({.name = "axis", .shape = {}, .type = Type::INT32, .data = BytesOf<int32_t>({0})});
    const int sizes = m.AddInts("sizes", {1, 1});
    const std::vector<int32_t> shape =
        code == Code::UNPACK ? std::vector<int32_t>{} : std::vector<int32_t>{1};
    const int a = m.Add({.name = "a", .shape = code == Code::PACK ? std::vector<int32_t>{2, 2} : shape});
    const int b = m.Add({.name = "b", .shape = shape});
    switch (code) {
      case Code::SPLIT:
        m.AddOp(code, {axis, x}, {a, b}, schema::CreateSplitOptions(m.builder(), count));
        break;
      case Code::SPLIT_V:
        m.AddOp(code, {x, sizes, axis}, {a, b}, schema::CreateSplitVOptions(m.builder(), count));
        break;
      case Code::UNPACK:
        m.AddOp(code, {x}, {a, b}, schema::CreateUnpackOptions(m.builder(), count));
        break;
      default:
        m.AddOp(code, {x, x}, {a}, schema::CreatePackOptions(m.builder(), count));
    }
    m.SetOutputs({a});
    return ErrorOf(m.Finish());
  };
  for (const Code code : {Code::SPLIT, Code::SPLIT_V, Code::UNPACK, Code::PACK}) {
    EXPECT_EQ(error(code, 2), "") << schema::EnumNameBuiltinOperator(code);
    EXPECT_NE(error(code, 0), "") << schema::EnumNameBuiltinOperator(code);
    EXPECT_NE(error(code, 3), "") << schema::EnumNameBuiltinOperator(code);
  }
}

// The mirrored parts are as long as the axis at most, whatever its length.
TEST(TfliteHostile, HugeMirrors) {
  ModelBuilder m;
  const int x = m.AddInput({.name = "x", .shape = {1 << 30}, .type = Type::INT8});
  const int pads =
      m.Add({.name = "pads", .shape = {1, 2}, .type = Type::INT32, .data = BytesOf<int32_t>({1, 1})});
  const int y = m.Add({.name = "y", .shape = {(1 << 30) + 2}, .type = Type::INT8});
  m.AddOp(Code::MIRROR_PAD, {x, pads}, {y},
          schema::CreateMirrorPadOptions(m.builder(), schema::MirrorPadMode::SYMMETRIC));
  m.SetOutputs({y});
  EXPECT_TRUE(ImportBuilt(m.Finish()).ok());
}

TEST(TfliteHostile, HugeTilesAndRanges) {
  const TensorSpec many = {.name = "w",
                           .shape = {4},
                           .type = Type::INT32,
                           .data = BytesOf<int32_t>({INT32_MAX, INT32_MAX, INT32_MAX, 1})};
  EXPECT_FALSE(ImportBuilt(Binary(Code::TILE, many)).ok());
  EXPECT_FALSE(ImportBuilt(Binary(Code::BROADCAST_TO, many)).ok());
}

}  // namespace
}  // namespace attune::tflite
