#include "graph/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/verify.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// Parses `text`, which is canonical, and prints it again.
void ExpectRoundTrip(std::string_view text) {
  const auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  EXPECT_EQ(Print(**graph), text);
}

std::string ErrorOf(std::string_view text) {
  const auto graph = ParseGraph(text);
  return graph.ok() ? "no error" : std::string(graph.status().message());
}

TEST(Text, RoundTripsEveryPart) {
  ExpectRoundTrip(
      R"(graph @everything(%x: f32[1,16,8,8], %boxes: f32[1,10,4], %scores: f32[1,2,10], %c: bool[], %"two words": i32[2,3]) {
  %w = constant() {value = f32[2]<1.5, -2>} : f32[2]
  %0 = layout_transform(%x) {block = 8, blocked_axis = 1} : f32[1,16,8,8]{c1/8}
  %1 = relu(%0) @"layer 1/relu" : f32[1,16,8,8]{c1/8}
  %kernel = constant() {value = f32[1,16,1,1]<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>} : f32[1,16,1,1]
  %y = conv(%1, %kernel) {dilations = [1, 1], group = 1, pads = [0, 0, 0, 0], strides = [2, 2]} : f32[1,1,4,4]
  %r = resize(%y) {coordinate_mode = "asymmetric", cubic_coeff = -0.75, scales = [1, 1, 2.5, 2], sizes = [1, 1, 10, 8]} : f32[1,1,10,8]
  %n = cast(%r) {to = bf16} : bf16[1,1,10,8]
  %a, %b = top_k(%r) {axis = 3, k = 5} : f32[1,1,10,5], i64[1,1,10,5]
  %kept = non_max_suppression(%boxes, %scores) {iou_threshold = 0.5, max_per_class = 5} : i64[kept<=10,3]
  %scale = constant() {value = f32[]<0.1>} : f32[]
  %q = requantize(%"two words", %scale) {rounding = "half_away", to = u8} : u8[2,3]
  %zero = constant() {value = i32[]<3>} : i32[]
  %wi = constant() {value = i8[3,2]<-128, 127, 0, 1, -1, 5>} : i8[3,2]
  %wz = constant() {value = i8[]<-3>} : i8[]
  %mm = matmul_integer(%q, %wi, _, %wz) : i32[2,2]
  %2 = if(%c, %a) {
    graph @then(%v: f32[1,1,10,5]) {
      return "": %v
    }
    graph(%0: f32[1,1,10,5]) {
      %1 = neg(%0) : f32[1,1,10,5]
      return "": %1
    }
  } @"choose" : f32[1,1,10,5]
  return "out": %2, "again": %2, "in": %x, "k\n\x00\xff\"\\": %kept, "mm": %mm
}
)");
}

TEST(Text, RoundTripsNumbersThatNoDoubleHolds) {
  ExpectRoundTrip(R"(graph(%x: i64[2], %y: u64[2], %z: f32[2]) {
  %0 = clip(%x) {max = 9223372036854775807, min = -9007199254740993} : i64[2]
  %1 = pad(%y) {pads = [1, 0], value = 18446744073709551615} : u64[3]
  %2 = pad(%z) {pads = [1, 0], value = -0} : f32[3]
  %3 = clip(%z) {max = 1e+30, min = -0.5} : f32[2]
  return "a": %0, "b": %1, "c": %2, "d": %3
}
)");
}

TEST(Text, RoundTripsEveryDType) {
  ExpectRoundTrip(R"(graph() {
  %0 = constant() {value = f32[6]<0.1, -0, inf, -inf, nan, 1e-45>} : f32[6]
  %1 = constant() {value = f64[5]<0.1, -0, 1.7976931348623157e+308, 5e-324, nan>} : f64[5]
  %2 = constant() {value = f16[7]<0.1, -0, inf, -inf, nan, 65500, 6e-08>} : f16[7]
  %3 = constant() {value = bf16[5]<0.1, -0, inf, nan, 1e+38>} : bf16[5]
  %4 = constant() {value = i8[2]<-128, 127>} : i8[2]
  %5 = constant() {value = i16[2]<-32768, 32767>} : i16[2]
  %6 = constant() {value = i32[2]<-2147483648, 2147483647>} : i32[2]
  %7 = constant() {value = i64[2]<-9223372036854775808, 9223372036854775807>} : i64[2]
  %8 = constant() {value = u8[1]<255>} : u8[1]
  %9 = constant() {value = u16[1]<65535>} : u16[1]
  %10 = constant() {value = u32[1]<4294967295>} : u32[1]
  %11 = constant() {value = u64[1]<18446744073709551615>} : u64[1]
  %12 = constant() {value = bool[2]<0, 1>} : bool[2]
  %13 = constant() {value = f32[0,4]<>} : f32[0,4]
  %14 = constant() {value = f32[3]<nan.ffc00000, nan.7f800001, nan.7fc00001>} : f32[3]
  %15 = constant() {value = f16[1]<nan.fe00>} : f16[1]
  return
}
)");
}

// Every bit pattern of the 16-bit floats, through decimals.
TEST(Text, RoundTripsAllHalfFloats) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    for (uint32_t first = 0; first < 0x10000; first += 64) {
      Tensor tensor(dtype, {64});
      for (uint32_t i = 0; i < 64; ++i) tensor.as_mutable<uint16_t>()[i] = static_cast<uint16_t>(first + i);
      Graph graph;
      graph.AddConstant(tensor);
      const auto parsed = ParseGraph(Print(graph));
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      ASSERT_TRUE((*parsed)->nodes().front()->output()->constant()->Identical(tensor)) << Print(graph);
    }
  }
}

TEST(Text, LargeTensorsAreHexadecimal) {
  Graph graph("g");
  std::vector<int64_t> values(65);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i) - 3;
  graph.AddConstant(Tensor::FromInts(values, DType::kI16));
  const std::string text = Print(graph);
  EXPECT_THAT(text, HasSubstr("i16[65]<0xfdfffeffffff00000100"));
  ExpectRoundTrip(text);
  EXPECT_THAT(Print(graph, {.max_constant_elements = 64}), HasSubstr("value = i16[65]<...>}"));
}

TEST(Text, NumbersUnnamedValuesInOrder) {
  const auto graph = ParseGraph("graph(%7: f32[2]) { %3 = neg(%7) : f32[2] return \"y\": %3 } // the end");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Print(**graph), "graph(%0: f32[2]) {\n  %1 = neg(%0) : f32[2]\n  return \"y\": %1\n}\n");
}

struct BadText {
  const char* text;
  const char* message;
};

class BadTextTest : public ::testing::TestWithParam<BadText> {};

TEST_P(BadTextTest, IsRefused) { EXPECT_THAT(ErrorOf(GetParam().text), HasSubstr(GetParam().message)); }

INSTANTIATE_TEST_SUITE_P(
    Text, BadTextTest,
    ::testing::Values(
        BadText{"", "line 1:1: expected 'graph', at the end"}, BadText{"graph(", "expected '%'"},
        BadText{"graph() { return } graph", "line 1:20: expected the end, at \"graph\""},
        BadText{"graph() {\n  frob() : f32[]\n}", "line 2:3: expected an operator"},
        BadText{"graph() { %a = neg(%b) : f32[] return }", "line 1:20: no value %b is made before this use"},
        BadText{"graph(%a: f32[], %a: f32[]) { return }", "line 1:18: there are two values %a"},
        BadText{"graph() { return \"\": %\"a\\n\" }", "no value %\"a\\n\" is made"},
        BadText{"graph(%\"\": f32[]) { return }", "the name of a value is empty"},
        BadText{"graph(%_: f32[]) { return }", "expected the name of a value"},
        BadText{"graph(%a: f31[]) { return }", "line 1:11: expected an element type"},
        BadText{"graph(%a: f32[-1]) { return }", "expected an integer in [0, 9223372036854775807]"},
        BadText{"graph(%a: f32[99999999999999999999]) { return }", "expected an integer of 64 bits"},
        BadText{"graph(%a: f32[1099511627776]) { return }", "line 1:11: f32[1099511627776] is larger"},
        BadText{"graph(%a: f32[\"?\"<=4]) { return }", "this cannot name a dimension"},
        BadText{"graph(%a: f32[4]{c1/16}) { return }", "cannot be blocked"},
        BadText{"graph(%a: f32[4]{x}) { return }", "expected a blocked axis such as c1"},
        BadText{"graph(%a: f32[4]) { %b = neg(%a) : f32[5] return }",
                "line 1:26: neg: output 0 has the type f32[5], inference gives f32[4]"},
        BadText{"graph(%a: f32[4]) { %b = neg(%a, %a) : f32[4] return }",
                "neg: has 2 inputs, takes at most 1"},
        BadText{"graph(%a: f32[4]) { %b, %c = neg(%a) : f32[4], f32[4] return }",
                "neg: has 2 outputs, makes 1"},
        BadText{"graph(%a: f32[4]) { %b = neg(%a) {x = 1} : f32[4] return }", "expected an attribute of neg"},
        BadText{"graph(%a: f32[4]) { %b = softmax(%a) {axis = 0, axis = 0} : f32[4] return }",
                "the attribute is given twice"},
        BadText{"graph(%a: f32[4]) { %b = softmax(%a) {axis = 0.5} : f32[4] return }",
                "line 1:46: expected an integer of 64 bits, at \"0.5\""},
        BadText{"graph(%a: f32[4]) { %b = elu(%a) {alpha = \"1\"} : f32[4] return }", "expected a number"},
        BadText{"graph() { %b = constant() {value = i8[2]<1>} : i8[2] return }",
                "expected 2 elements, found 1"},
        BadText{"graph() { %b = constant() {value = i8[1]<128>} : i8[1] return }",
                "line 1:42: this is not of type i8"},
        BadText{"graph() { %b = constant() {value = f16[1]<1e9>} : f16[1] return }",
                "this is not of type f16"},
        BadText{"graph() { %b = constant() {value = f32[1]<1e999>} : f32[1] return }",
                "this is not of type f32"},
        BadText{"graph() { %b = constant() {value = f32[1]<nan.3f800000>} : f32[1] return }",
                "this is not of type f32"},
        BadText{"graph() { %b = constant() {value = f32[1000000000]<1>} : f32[1] return }",
                "expected 1000000000 elements, found 1"},
        BadText{"graph() { %b = constant() {value = i8[2]<0x01>} : i8[2] return }",
                "expected 4 hexadecimal digits, found 2"},
        BadText{"graph() { %b = constant() {value = bool[1]<0x02>} : bool[1] return }", "neither 00 nor 01"},
        BadText{"graph() { %b = constant() {value = f32[n<=2]<1, 2>} : f32[2] return }", "are constants"},
        BadText{"graph(%a: f32[]) { return \"a: %a }", "the string does not end on its line"},
        BadText{"graph(%a: f32[]) { return \"\\q\": %a }", "the string has an unknown escape"},
        BadText{"graph(%a: f32[]) { return \"a\": %a, \"a\": %a }", "two graph outputs are named \"a\""}));

TEST(Text, BoundsTheDepthOfRegions) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "graph() { fused() { ";
  EXPECT_THAT(ErrorOf(text), HasSubstr("regions nest deeper than 64"));
}

TEST(Text, RegionsNestAsDeepAsTheyMay) {
  std::string text = "graph() { return }";
  for (int i = 0; i < kMaxRegionDepth; ++i) text = "graph() { fused() { " + text + " } return }";
  const auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  ExpectRoundTrip(Print(**graph));
}

}  // namespace
}  // namespace attune
