#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/random.h"
#include "lower/kernel_under_test.h"

namespace attune {
namespace {

OperatorCase Conv(Op op, std::vector<InputSpec> inputs, Ints strides, Ints pads, int64_t group = 1,
                  Ints dilations = {1, 1}) {
  return {op,
          std::move(inputs),
          {{"strides", std::move(strides)},
           {"pads", std::move(pads)},
           {"group", group},
           {"dilations", std::move(dilations)}}};
}

TEST(LowerContraction, Convolutions) {
  ExpectKernelsMatch(
      InEachLayout({Conv(Op::kConv, {"f32[1,16,7,9]", "f32[32,16,3,3]", "f32[32]"}, {1, 1}, {1, 1, 1, 1}),
                    Conv(Op::kConv, {"f32[2,5,8,8]", "f32[7,5,3,2]"}, {2, 1}, {1, 0, 0, 1}),
                    Conv(Op::kConv, {"f32[1,16,5,5]", "f32[20,16,1,1]", "f32[20]"}, {1, 1}, {0, 0, 0, 0}),
                    Conv(Op::kConv, {"f32[1,20,9,9]", "f32[20,1,3,3]", "f32[20]"}, {2, 2}, {1, 1, 1, 1}, 20),
                    Conv(Op::kConv, {"f32[1,32,6,6]", "f32[32,16,3,3]"}, {1, 1}, {2, 2, 2, 2}, 2, {2, 2})}));
  ExpectKernelsMatch({{Op::kConv, {"f32[1,3,20]", "f32[4,3,5]"}, {{"pads", Ints{2, 2}}}},
                      {Op::kConv, {"f32[1,2,4,5,6]", "f32[3,2,2,2,2]"}, {}},
                      Conv(Op::kConv, {"f16[1,4,6,6]", "f16[8,4,3,3]"}, {1, 1}, {1, 1, 1, 1})});
}

// Products of 64-bit integers do not fit 32 bits.
TEST(LowerContraction, ProductsOfWideIntegers) {
  ExpectKernelsMatch(
      {{Op::kMatMul, {"i64[3,5] -3000000000..3000000000", "i64[5,17] -3000000000..3000000000"}, {}},
       {Op::kMatMul, {"u64[2,3,5] 0..3000000000", "u64[5,4] 0..3000000000"}, {}},
       {Op::kMatMul, {"u32[3,5] 0..4000000000", "u32[5,17] 0..4000000000"}, {}}});
}

// A formula may not need its operand; then the operand is not computed.
TEST(LowerContraction, ProductsThatNothingReads) {
  ExpectKernelsMatch({
      R"(graph @g(%x: f32[9,6,1,3], %w: f32[3,32]) {
        %p = matmul(%x, %w) : f32[9,6,1,32]
        %y = is_inf(%p) {negative = 0, positive = 0} : bool[9,6,1,32]
        return "": %y
      })",
      R"(graph @g(%x: f32[1,16,7,9]{c1/16}, %w: f32[16,16,3,3]) {
        %p = conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,16,7,9]{c1/16}
        %r = relu(%p) : f32[1,16,7,9]{c1/16}
        %y = is_inf(%r) {negative = 0, positive = 0} : bool[1,16,7,9]{c1/16}
        return "": %y
      })",
      R"(graph @g(%x: u8[4,8], %w: i8[8,32]) {
        %zero = constant() {value = i32[]<0>} : i32[]
        %p = matmul_integer(%x, %w) : i32[4,32]
        %y = mul(%p, %zero) : i32[4,32]
        return "": %y
      })",
      R"(graph @g(%x: f32[4,8], %w: f32[8,32]) {
        %p = matmul(%x, %w) : f32[4,32]
        %a = is_inf(%p) {negative = 0, positive = 0} : bool[4,32]
        %b = relu(%p) : f32[4,32]
        return "a": %a, "b": %b
      })",
  });
}

// Groups with more outputs than inputs, in steps and with padding: channels of a tile are apart from each
// other in every operand. All tiles of all strategies, with few registers and with many.
TEST(LowerContraction, GroupedConvolutionsByDrawnTiles) {
  Random random(1);
  std::vector<OperatorCase> cases = {
      Conv(Op::kConv, {"f32[1,24,4,4]", "f32[48,1,3,3]"}, {1, 3}, {0, 1, 0, 1}, 24)};
  for (int i = 0; i < 12; ++i) {
    const int64_t group = random.Integer(2, 26), inputs = random.Integer(1, 2),
                  outputs = random.Integer(1, 3), size = random.Integer(3, 9);
    const auto step = [&] { return random.Integer(1, 3); };
    const auto pad = [&] { return random.Integer(0, 2); };
    cases.push_back(
        Conv(Op::kConv,
             {absl::StrCat("f32[1,", group * inputs, ",", size, ",", random.Integer(3, 9), "]"),
              absl::StrCat("f32[", group * outputs, ",", inputs, ",", random.Integer(1, 3), ",3]")},
             {step(), step()}, {pad(), pad(), pad(), pad()}, group));
  }
  cases = InEachLayout(cases);
  ForTargets([&](const Target& target) {
    ExpectKernelsMatch(
        WithDrawnConfigs(cases, {"contraction", "sliding_window", "conv_direct", "loops"}, target, 4),
        target);
  });
}

// So many taps that not all are unrolled: with and without padding, one case with a prime number.
TEST(LowerContraction, ConvolutionsWithLongKernels) {
  ExpectKernelsMatch(
      InEachLayout({Conv(Op::kConv, {"f32[1,1,1,2000]", "f32[48,1,1,256]", "f32[48]"}, {1, 64}, {0, 0, 0, 0}),
                    Conv(Op::kConv, {"f32[1,2,1,700]", "f32[16,2,1,211]"}, {1, 3}, {0, 105, 0, 105}),
                    Conv(Op::kConv, {"f32[1,16,1,600]", "f32[16,1,1,256]"}, {1, 2}, {0, 127, 0, 128}, 16)}));
}

// Shapes that tiles divide or not, with and without padding, and channel counts that fill their vectors or
// not: with the baseline config, and with each size of Winograd tile in many blocks and in one.
TEST(LowerContraction, ConvolutionsByTiles) {
  const std::vector<OperatorCase> cases =
      InEachLayout({Conv(Op::kConv, {"f32[1,32,14,14]", "f32[64,32,3,3]", "f32[64]"}, {1, 1}, {1, 1, 1, 1}),
                    Conv(Op::kConv, {"f32[2,48,28,20]", "f32[16,48,3,3]"}, {1, 1}, {1, 1, 1, 1}),
                    Conv(Op::kConv, {"f32[1,16,7,7]", "f32[80,16,3,3]", "f32[80]"}, {1, 1}, {1, 1, 1, 1}),
                    Conv(Op::kConv, {"f32[1,20,13,9]", "f32[24,20,3,3]", "f32[24]"}, {1, 1}, {0, 0, 0, 0}),
                    Conv(Op::kConv, {"f32[1,16,5,50]", "f32[16,16,3,3]"}, {1, 1}, {2, 0, 1, 2}),
                    Conv(Op::kConv, {"f32[3,16,3,3]", "f32[16,16,3,3]"}, {1, 1}, {0, 0, 0, 0})});
  ExpectKernelsMatch(cases);
  const Shape image = {13, 21};
  for (int64_t tile : {2, 4, 6}) {
    const int64_t rows = CeilDiv(image[0], tile), columns = CeilDiv(image[1], tile);
    for (const auto& [block_h, block_w] : {std::pair(int64_t{1}, int64_t{1}), std::pair(rows, columns)}) {
      OperatorCase test_case =
          Conv(Op::kConv, {"f32[1,32,13,21]", "f32[48,32,3,3]", "f32[48]"}, {1, 1}, {1, 1, 1, 1});
      test_case.strategy = "conv_winograd";
      test_case.config = {{"tile", tile},
                          {"dot", 1},
                          {"block_h", block_h},
                          {"tile_c", 3},
                          {"tile_p", block_w},
                          {"block_w", block_w},
                          {"input_first", block_h > 1 ? 1 : 0},
                          {"prefetch", block_h > 1 ? 1 : 0}};
      ExpectKernelsMatch(InEachLayout({test_case}));
    }
  }
}

// Checks each case with conv_direct in such tiles, in each layout.
void ExpectTilesMatch(std::vector<OperatorCase> cases, int64_t tile_w, int64_t tile_c) {
  for (OperatorCase& test_case : cases) {
    test_case.strategy = "conv_direct";
    test_case.config = {
        {"tile_w", tile_w}, {"tile_c", tile_c}, {"rows_first", 0}, {"unroll_c", 8}, {"prefetch", 2}};
    test_case.epilogue = {Op::kRelu};
  }
  ExpectKernelsMatch(InEachLayout(cases));
}

// Blocks that hold several groups.
TEST(LowerContraction, ConvolutionsOfFewChannelsAGroup) {
  std::vector<OperatorCase> cases;
  for (const int64_t channels : {2, 4, 8}) {
    const std::string w = absl::StrCat("[32,", channels, ",3,3]");
    const int64_t group = 32 / channels;
    cases.push_back(Conv(Op::kConv, {"f32[2,32,9,13]", "f32" + w, "f32[32]"}, {1, 1}, {1, 1, 1, 1}, group));
    cases.push_back(Conv(Op::kConv, {"f32[1,32,11,18]", "f32" + w}, {2, 2}, {0, 0, 0, 0}, group));
    cases.push_back(Conv(Op::kConv, {"bf16[1,32,9,13]", "bf16" + w}, {1, 1}, {1, 1, 1, 1}, group));
    cases.push_back(Conv(Op::kConvInteger, {"u8[1,32,9,13] 0..255", "i8" + w + " -128..127"}, {1, 1},
                         {1, 1, 1, 1}, group));
  }
  cases.push_back(Conv(Op::kConv, {"f32[1,24,9,13]", "f32[24,4,3,3]", "f32[24]"}, {1, 1}, {1, 1, 1, 1}, 6));
  ExpectKernelsMatch(InEachLayout(cases));
}

// Three blocks of 16 channels, or six of 8, in tiles the last of which has fewer.
TEST(LowerContraction, ConvolutionsWithUnevenTiles) {
  for (const int64_t tile_c : {2, 4, 5}) {
    ExpectTilesMatch({Conv(Op::kConv, {"f32[1,32,1,49]", "f32[48,32,1,1]", "f32[48]"}, {1, 1}, {0, 0, 0, 0}),
                      Conv(Op::kConv, {"f32[2,16,5,34]", "f32[48,16,3,2]"}, {2, 2}, {0, 0, 0, 0})},
                     5, tile_c);
  }
}

// Without padding, a last tile that is not full is shifted inwards.
TEST(LowerContraction, ConvolutionsWhoseTilesOverlap) {
  for (const int64_t tile_w : {3, 5, 10}) {
    ExpectTilesMatch({Conv(Op::kConv, {"f32[1,32,1,49]", "f32[48,32,1,1]", "f32[48]"}, {1, 1}, {0, 0, 0, 0}),
                      Conv(Op::kConv, {"f32[2,16,5,34]", "f32[48,16,3,2]"}, {2, 2}, {1, 0, 0, 0})},
                     tile_w, 3);
  }
}

TEST(LowerContraction, ConvolutionsWithEpilogue) {
  std::vector<OperatorCase> cases =
      InEachLayout({Conv(Op::kConv, {"f32[1,16,6,6]", "f32[16,16,3,3]", "f32[16]"}, {1, 1}, {1, 1, 1, 1}),
                    Conv(Op::kConv, {"f32[1,12,6,6]", "f32[12,1,3,3]"}, {1, 1}, {1, 1, 1, 1}, 12)});
  for (OperatorCase& test_case : cases) test_case.epilogue = {Op::kRelu, Op::kNeg};
  ExpectKernelsMatch(cases);
}

// Feature maps as either operand of a product, as weights and as operands of attention; 9 channels do not
// fill their blocks.
TEST(LowerContraction, OperandsInBlocks) {
  for (const std::string layout : {"{c1/8}", "{c1/16}"}) {
    const std::string map = "f32[2,9,7,7]" + layout;
    ExpectKernelsMatch(std::vector<std::string>{
        "graph @g(%a: " + map + ", %b: f32[7,33]) { %y = matmul(%a, %b) : f32[2,9,7,33] return \"\": %y }",
        "graph @g(%a: " + map +
            ", %b: f32[7,33]) { %y = matmul(%a, %b) {transpose_a = 1} : f32[2,9,7,33] "
            "return \"\": %y }",
        "graph @g(%a: f32[5,7], %b: " + map + ") { %y = matmul(%a, %b) : f32[2,9,5,7] return \"\": %y }",
        "graph @g(%a: " + map + ") { %y = matmul(%a, %a) {transpose_b = 1} : f32[2,9,7,7] return \"\": %y }",
        "graph @g(%x: f32[1,9,9,9]" + layout + ", %w: " + map +
            ") { %y = conv(%x, %w) : f32[1,2,3,3] "
            "return \"\": %y }",
        "graph @g(%x: f32[1,9,9,9]" + layout + ", %w: f32[16,9,3,3]" + layout +
            ") { %y = conv(%x, %w) : "
            "f32[1,16,7,7]" +
            layout + " return \"\": %y }",
        "graph @g(%q: f32[2,9,5,16], %k: f32[2,9,7,16]" + layout + ", %v: f32[2,9,7,16]" + layout +
            ") { "
            "%y = attention(%q, %k, %v) {scale = 0.25} : f32[2,9,5,16] return \"\": %y }"});
  }
}

// Weights with factors, as in squeeze and excitation: channels that fill blocks and that do not, a window
// with padding, a plain input.
TEST(LowerContraction, ConvolutionsWithScaledWeights) {
  ExpectKernelsMatch(std::vector<std::string>{
      R"(graph @g(%x: f32[1,32,9,7]{c1/16}, %w: f32[24,32,1,1], %s: f32[1,32,1,1]{c1/16}, %b: f32[24]) {
        %v = mul(%w, %s) : f32[24,32,1,1]{c1/16}
        %y = conv(%x, %v, %b) : f32[1,24,9,7]{c1/16}
        %r = relu(%y) : f32[1,24,9,7]{c1/16}
        return "": %r
      })",
      R"(graph @g(%x: f32[1,20,1,63]{c1/8}, %w: f32[40,20,1,1], %s: f32[1,20,1,1]{c1/8}, %i: f32[1,40,1,63]{c1/8}) {
        %v = mul(%w, %s) : f32[40,20,1,1]{c1/8}
        %y = conv(%x, %v) : f32[1,40,1,63]{c1/8}
        %r = add(%y, %i) : f32[1,40,1,63]{c1/8}
        return "": %r
      })",
      R"(graph @g(%x: f32[2,5,8,9], %w: f32[32,5,3,3], %s: f32[1,5,1,1]) {
        %v = mul(%w, %s) : f32[32,5,3,3]
        %y = conv(%x, %v) {pads = [1, 1, 1, 1]} : f32[2,32,8,9]{c1/16}
        return "": %y
      })"});
}

TEST(LowerContraction, TransposedAndIntegerConvolutions) {
  ExpectKernelsMatch(InEachLayout(
      {Conv(Op::kConvTranspose, {"f32[1,6,4,5]", "f32[6,4,3,3]", "f32[8]"}, {2, 2}, {1, 1, 0, 1}, 2)}));
  ExpectKernelsMatch({Conv(Op::kConvInteger, {"u8[1,3,6,6] 0..255", "i8[4,3,3,3] -128..127", "u8[] 128"},
                           {1, 1}, {1, 1, 1, 1})});
}

// Terms are taken in pairs if the processor has instructions for them and the channels come in pairs.
TEST(LowerContraction, ProductsOfBF16) {
  ExpectKernelsMatch(InEachLayout(
      {Conv(Op::kConv, {"bf16[1,32,7,9]", "bf16[48,32,3,3]", "bf16[48]"}, {2, 2}, {1, 1, 1, 1}),
       Conv(Op::kConv, {"bf16[1,24,6,6]", "bf16[32,24,1,1]"}, {1, 1}, {0, 0, 0, 0}),
       Conv(Op::kConv, {"bf16[1,17,6,6]", "bf16[32,17,1,1]"}, {1, 1}, {0, 0, 0, 0}),
       Conv(Op::kConv, {"bf16[1,32,6,6]", "bf16[32,16,3,3]"}, {1, 1}, {1, 1, 1, 1}, 2),
       Conv(Op::kConv, {"bf16[1,32,14,14]", "bf16[64,32,3,3]", "bf16[64]"}, {1, 1}, {1, 1, 1, 1}),
       Conv(Op::kConv, {"bf16[2,24,9,11]", "bf16[16,24,3,3]"}, {1, 1}, {0, 1, 1, 0}),
       Conv(Op::kConv, {"bf16[1,32,6,6]", "bf16[32,1,3,3]"}, {1, 1}, {1, 1, 1, 1}, 32)}));
  ExpectKernelsMatch({{Op::kMatMul, {"bf16[9,64]", "bf16[64,100]"}, {}},
                      {Op::kMatMul, {"bf16[2,9,64]", "bf16[2,64,33]"}, {}, "", {Op::kRelu}},
                      {Op::kMatMul, {"bf16[9,32]", "bf16[48,32]"}, {{"transpose_b", int64_t{1}}}},
                      {Op::kMatMul, {"bf16[64,9]", "bf16[64,48]"}, {{"transpose_a", int64_t{1}}}},
                      {Op::kMatMul, {"bf16[9,33]", "bf16[33,48]"}, {}}});
}

// Few channels, hence pairs of taps: an odd and an even number of taps, a single one, and taps a stride
// apart.
TEST(LowerContraction, ImagesOfBF16) {
  ExpectKernelsMatch(
      InEachLayout({Conv(Op::kConv, {"bf16[1,3,21,23]", "bf16[32,3,7,7]", "bf16[32]"}, {2, 2}, {3, 3, 3, 3}),
                    Conv(Op::kConv, {"bf16[2,1,9,40]", "bf16[24,1,3,4]", "bf16[24]"}, {1, 1}, {0, 2, 1, 1}),
                    Conv(Op::kConv, {"bf16[1,4,8,9]", "bf16[16,4,2,1]"}, {1, 3}, {0, 0, 0, 0}),
                    Conv(Op::kConv, {"bf16[1,5,8,70]", "bf16[48,5,3,3]"}, {1, 1}, {1, 20, 1, 20})}));
}

// The range of an integer type; for i16, that of the bytes that are widened to it.
std::string AllOf(const std::string& type) {
  return type == "u8" ? " 0..255" : type == "i8" ? " -128..127" : " -128..255";
}

// Four bytes or two i16 are taken at a time if the processor has an instruction for them and the channels
// or taps come in such numbers.
void ExpectIntegerProductsMatch(const std::string& left, const std::string& right,
                                const std::optional<Target>& target = {}) {
  const auto conv = [&](const std::string& x, const std::string& w, const Ints& strides, const Ints& pads,
                        int64_t group = 1) {
    return Conv(Op::kConvInteger, {left + x + AllOf(left), right + w + AllOf(right)}, strides, pads, group);
  };
  const auto expect = [&](const std::vector<OperatorCase>& cases) {
    target ? ExpectKernelsMatch(cases, *target) : ExpectKernelsMatch(cases);
  };
  expect(InEachLayout({conv("[1,32,7,9]", "[48,32,3,3]", {2, 2}, {1, 1, 1, 1}),
                       conv("[1,24,6,6]", "[32,24,1,1]", {1, 1}, {0, 0, 0, 0}),
                       conv("[1,18,6,6]", "[32,18,1,1]", {1, 1}, {0, 0, 0, 0}),
                       conv("[1,32,6,6]", "[32,16,3,3]", {1, 1}, {1, 1, 1, 1}, 2),
                       conv("[2,24,9,11]", "[16,24,3,3]", {1, 1}, {0, 1, 1, 0}),
                       conv("[1,32,6,6]", "[32,1,3,3]", {1, 1}, {1, 1, 1, 1}, 32),
                       conv("[1,16,9,9]", "[16,1,5,5]", {2, 2}, {2, 2, 2, 2}, 16),
                       conv("[1,3,21,23]", "[32,3,7,7]", {2, 2}, {3, 3, 3, 3}),
                       conv("[1,5,8,70]", "[48,5,3,3]", {1, 1}, {1, 20, 1, 20})}));
  const auto product = [&](const std::string& a, const std::string& b, const Attributes& attributes = {}) {
    return OperatorCase{Op::kMatMulInteger, {left + a + AllOf(left), right + b + AllOf(right)}, attributes};
  };
  expect({product("[9,64]", "[64,100]"), product("[2,9,64]", "[2,64,33]"), product("[9,33]", "[33,48]"),
          product("[9,32]", "[48,32]", {{"transpose_b", int64_t{1}}}),
          product("[64,9]", "[64,48]", {{"transpose_a", int64_t{1}}})});
}

TEST(LowerContraction, ProductsOfIntegers) {
  ExpectIntegerProductsMatch("u8", "i8");
  ExpectIntegerProductsMatch("i16", "i16");
  ExpectIntegerProductsMatch("i16", "i8");
}

TEST(LowerContraction, ProductsOfBytesOnTheModel) {
  const Target target = WithModelledProducts(*TargetByName("x86-64-v3"));
  for (const auto& [left, right] : {std::pair("u8", "i8"), {"i8", "i8"}, {"u8", "u8"}})
    ExpectIntegerProductsMatch(left, right, target);
}

// Sums of these products overflow 16 bits and fit in 32.
TEST(LowerContraction, ExtremeBytes) {
  for (const char* type : {"u8", "i16"}) {
    for (const char* weights : {" -128..-128", " 127..127"}) {
      const std::string w = absl::StrCat(*type == 'u' ? "i8" : type, "[16,32,3,3]", weights);
      ExpectKernelsMatch(InEachLayout(
          {Conv(Op::kConvInteger, {absl::StrCat(type, "[1,32,6,6] 255..255"), w}, {1, 1}, {1, 1, 1, 1})}));
    }
  }
}

TEST(LowerContraction, MatrixProducts) {
  ExpectKernelsMatch(InEachDType(
      {{Op::kMatMul, {"f32[7,20]", "f32[20,33]"}, {}}, {Op::kMatMul, {"f32[2,3,5,8]", "f32[3,8,16]"}, {}}},
      "f32", {"f32", "f64", "f16", "bf16"}));
  ExpectKernelsMatch(
      {{Op::kMatMul, {"f32[20,7]", "f32[33,20]"}, {{"transpose_a", int64_t{1}}, {"transpose_b", int64_t{1}}}},
       {Op::kMatMul, {"f32[1,64]", "f32[64,100]"}, {}, "", {Op::kGelu}},
       {Op::kMatMul, {"f32[1,64]", "f32[64,1]"}, {}, "", {Op::kSigmoid}},
       {Op::kMatMul, {"bf16[7,20]", "bf16[20,1]"}, {}, "", {Op::kRelu}},
       {Op::kMatMul, {"f32[4,0]", "f32[0,3]"}, {}},
       {Op::kMatMul, {"i32[3,4]", "i32[4,5]"}, {}},
       {Op::kMatMulInteger, {"u8[5,9] 0..255", "i8[9,17] -128..127", "u8[] 7", "i8[17]"}, {}},
       {Op::kMatMulInteger, {"u8[3,5,9] 0..255", "i8[9,17] -128..127", "u8[5] 0..255"}, {}}});
}

// Rows, columns and panels that divide evenly and that do not. Inputs are not negative, since terms might
// cancel out in such long sums.
TEST(LowerContraction, MatrixProductsInBlocksOfTerms) {
  std::vector<OperatorCase> cases = {
      {Op::kMatMul, {"f32[16,512] 0..2", "f32[512,96] 0..2"}, {}, "", {Op::kRelu}},
      {Op::kMatMul, {"f32[3,7,512] 0..2", "f32[512,100] 0..2"}, {}, "", {Op::kGelu}},
      {Op::kMatMul,
       {"f32[512,19] 0..2", "f32[33,512] 0..2"},
       {{"transpose_a", int64_t{1}}, {"transpose_b", int64_t{1}}}}};
  for (OperatorCase& test_case : cases) {
    test_case.strategy = "gemm";
    test_case.config = {{"tile_m", 4}, {"tile_n", 3}, {"unroll_k", 8}, {"prefetch", 1}, {"k_blocks", 2}};
  }
  ExpectKernelsMatch(cases);
}

// For the strategy that knows only strides: groups that do not fill blocks, few channels, other types.
TEST(LowerContraction, OddShapes) {
  ExpectKernelsMatch({
      R"(graph @g(%x: f64[1,14,8,4], %w: f64[16,14,3,3], %b: f64[16]) {
        %y = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : f64[1,16,8,4]
        return "": %y
      })",
      R"(graph @g(%x: f64[1,16,8,4], %w: f64[1,16,3,3], %b: f64[1]) {
        %y = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : f64[1,1,8,4]
        return "": %y
      })",
      R"(graph @g(%x: f64[1,16,8,4]{c1/8}, %w: f64[1,16,3,3], %b: f64[1]) {
        %y = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : f64[1,1,8,4]{c1/8}
        %z = clip(%y) {max = 6, min = 0} : f64[1,1,8,4]{c1/8}
        return "": %z
      })",
      R"(graph @g(%x: f32[2,35,32,26], %w: f32[55,7,3,3]) {
        %y = conv(%x, %w) {strides = [2, 2], pads = [0, 1, 0, 0], group = 5} : f32[2,55,15,13]
        return "": %y
      })",
      R"(graph @g(%x: f32[1,12,9,11,21], %w: f32[18,4,3,2,3]) {
        %y = conv(%x, %w) {dilations = [1, 1, 2], pads = [1, 1, 2, 1, 0, 2], group = 3} : f32[1,18,9,11,21]
        return "": %y
      })",
      R"(graph @g(%x: f32[3,61,37], %w: f32[1,29,61]) {
        %y = matmul(%x, %w) {transpose_a = 1, transpose_b = 1} : f32[3,37,29]
        %z = relu(%y) : f32[3,37,29]
        return "": %z
      })",
      R"(graph @g(%x: f32[5,1,13,17,37], %w: f32[5,29,1,17,37]) {
        %m = mul(%x, %w) : f32[5,29,13,17,37]
        %y = reduce_sum(%m) {axes = [0, 4], keepdims = 0} : f32[29,13,17]
        return "": %y
      })",
  });
}

}  // namespace
}  // namespace attune
