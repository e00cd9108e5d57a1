// Winograd on integers, which is exact; ../contraction_test.cc tests it on floats.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "device/host.h"
#include "lower/kernel_under_test.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

// Bytes that are widened to i16: of u8 and i8, and their extremes in an order that no tile repeats.
constexpr const char* kBytes = " -128..255";
constexpr const char* kEnds = " 255 -128 -128 255 255 255 -128 0 255 -128 255";
constexpr const char* kWeightEnds = " -128 127 127 -128 -128 127 -128";

OperatorCase Conv(const std::string& x, const std::string& w, Ints pads = {1, 1, 1, 1}) {
  return {Op::kConvInteger, {"i16" + x, "i16" + w}, {{"pads", std::move(pads)}}};
}

// The case with its image in blocks of one vector of the target, as the strategy requires.
OperatorCase InVectors(const OperatorCase& test_case, const Target& target) {
  for (const OperatorCase& each : InEachLayout({test_case})) {
    if (each.layout == absl::StrCat("{c1/", target.Lanes(4), "}")) return each;
  }
  return {};
}

struct Analyzed {
  std::unique_ptr<Graph> region;
  Workload workload;
};
Analyzed Analyze(const OperatorCase& test_case, const Target& target) {
  auto group = MakeGroup(InVectors(test_case, target));
  EXPECT_TRUE(group.ok()) << group.status();
  auto workload = AnalyzeGroup(*group->region, "group");
  EXPECT_TRUE(workload.ok()) << workload.status();
  return {std::move(group->region), *std::move(workload)};
}

// Checks by this strategy alone, on this machine and AVX2, with the case's config or the analytic default.
void ExpectExact(const std::vector<OperatorCase>& cases) {
  std::vector<Target> targets = {*HostTarget()};
  if (targets[0].vector_bits > 256) targets.push_back(*TargetByName("x86-64-v3"));
  for (const Target& target : targets) {
    std::vector<OperatorCase> blocked;
    for (const OperatorCase& test_case : cases) {
      const Analyzed analyzed = Analyze(test_case, target);
      EXPECT_EQ(ConvWinogradWhyNot(analyzed.workload, target), "");
      blocked.push_back(InVectors(test_case, target));
      blocked.back().strategy = "conv_winograd";
      if (test_case.config.empty()) blocked.back().config = ConvWinogradDefault(analyzed.workload, target);
    }
    ExpectKernelsMatch(blocked, target);
  }
}

std::string WhyNot(const OperatorCase& test_case, const std::string& cpu) {
  const Target target = *TargetByName(cpu);
  return ConvWinogradWhyNot(Analyze(test_case, target).workload, target);
}

TEST(IntegerWinograd, AppliesToPairsWhoseSumsFit) {
  for (const char* cpu : {"x86-64-v3", "haswell", "znver3", "x86-64-v4", "skylake-avx512"}) {
    EXPECT_EQ(WhyNot(Conv("[1,64,14,14]", "[64,64,3,3]"), cpu), "");
    EXPECT_EQ(WhyNot(Conv("[1,916,3,3]", "[16,916,3,3]"), cpu), "");
    EXPECT_EQ(WhyNot(Conv("[1,918,3,3]", "[16,918,3,3]"), cpu), "four times the sums may not fit 32 bits");
    EXPECT_EQ(WhyNot(Conv("[1,63,14,14]", "[64,63,3,3]"), cpu),
              "integers that are not multiplied as pairs of i16");
    EXPECT_EQ(WhyNot({Op::kConvInteger, {"u8[1,64,14,14]", "i8[64,64,3,3]"}}, cpu),
              "integers that are not multiplied as pairs of i16");
  }
}

// The cost model takes it for many channels, but not if tiles lie mostly beyond the image.
TEST(IntegerWinograd, IsChosenWhereItIsFaster) {
  for (const char* cpu : {"x86-64-v3", "haswell", "znver3", "x86-64-v4"}) {
    const Target target = *TargetByName(cpu);
    const auto chosen = [&](const OperatorCase& test_case) {
      const Analyzed analyzed = Analyze(test_case, target);
      const auto choice = ChooseAnalytically(analyzed.workload, target);
      EXPECT_TRUE(IsConfigOf(choice->config, choice->strategy->space(analyzed.workload, target)));
      return choice->strategy->name;
    };
    EXPECT_EQ(chosen(Conv("[1,64,56,56]", "[64,64,3,3]")), "conv_winograd") << cpu;
    EXPECT_EQ(chosen(Conv("[1,128,28,28]", "[128,128,3,3]")), "conv_winograd") << cpu;
    EXPECT_EQ(chosen(Conv("[1,256,14,14]", "[256,256,3,3]")), "conv_winograd") << cpu;
    EXPECT_EQ(chosen(Conv("[1,512,3,3]", "[512,512,3,3]", {0, 0, 0, 0})), "conv_direct") << cpu;
  }
}

TEST(IntegerWinograd, IsExactInOddShapes) {
  std::vector<OperatorCase> cases;
  const std::vector<std::pair<std::string, std::string>> ranges = {{kBytes, kBytes}, {kEnds, kWeightEnds}};
  for (const auto& range : ranges) {
    const auto add = [&](const std::string& x, const std::string& w, const Ints& pads) {
      cases.push_back(Conv(x + range.first, w + range.second, pads));
    };
    add("[1,64,14,14]", "[64,64,3,3]", {1, 1, 1, 1});
    add("[2,34,9,11]", "[18,34,3,3]", {0, 1, 1, 0});
    add("[1,16,5,50]", "[16,16,3,3]", {2, 0, 1, 2});
    add("[3,2,3,3]", "[40,2,3,3]", {0, 0, 0, 0});
    add("[1,6,3,40]", "[7,6,3,3]", {0, 20, 0, 20});
  }
  for (OperatorCase& test_case : cases) test_case.epilogue = {Op::kRelu, Op::kNeg};
  ExpectExact(cases);
}

// Four times the sum comes as close to 2^31 as it may, from both sides.
TEST(IntegerWinograd, IsExactWhereSumsAreLargest) {
  std::vector<OperatorCase> cases;
  for (const char* x : {" 255..255", " -128..-128"}) {
    for (const char* w : {" 255..255", " -128..-128", " 127..127"})
      cases.push_back(Conv(absl::StrCat("[1,916,4,5]", x), absl::StrCat("[16,916,3,3]", w)));
  }
  ExpectExact(cases);
}

// Register tiles of one tile and of a row of them; blocks of one tile and of the whole image.
TEST(IntegerWinograd, IsExactInEachArrangement) {
  const Shape tiles = {CeilDiv(13, 2), CeilDiv(21, 2)};
  for (const int64_t input_first : {0, 1}) {
    for (const auto& [rows, columns] : {std::pair(int64_t{1}, int64_t{1}), std::pair(tiles[0], tiles[1])}) {
      OperatorCase test_case =
          Conv(absl::StrCat("[1,32,13,21]", kBytes), absl::StrCat("[48,32,3,3]", kBytes));
      test_case.config = {
          {"tile", 2},         {"dot", 2},           {"block_h", rows},         {"tile_c", 3},
          {"tile_p", columns}, {"block_w", columns}, {"prefetch", input_first}, {"input_first", input_first}};
      ExpectExact({test_case});
    }
  }
}

// Sums become bytes, and bytes are added, in the kernel.
TEST(IntegerWinograd, FusesRequantization) {
  for (const char* layout : {"{c1/8}", "{c1/16}"}) {
    const std::string map = absl::StrCat("[1,32,9,9]", layout);
    const auto of = [&](const char* dtype) { return absl::StrCat(" : ", dtype, map, "\n"); };
    ExpectKernelsMatch(std::vector<std::string>{absl::StrCat(
        "graph @g(%x: i16", map, ", %w: i16[32,32,3,3], %b: i32[32,1,1], %s: f32[32,1,1], %r: u8", map,
        ") {\n%0 = conv_integer(%x, %w) {pads = [1, 1, 1, 1]}", of("i32"), "%1 = add(%0, %b)", of("i32"),
        "%2 = cast(%1) {to = f32}", of("f32"), "%3 = mul(%2, %s)", of("f32"), "%4 = cast(%r) {to = f32}",
        of("f32"), "%5 = add(%3, %4)", of("f32"), "%6 = round(%5)", of("f32"), "%7 = cast(%6) {to = u8}",
        of("u8"), "%8 = cast(%7) {to = i16}", of("i16"), "return \"\": %8\n}")});
  }
}

}  // namespace
}  // namespace attune
