// Strategies for a matrix unit: on the processor's unit, if any, and on the software model on any machine.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lower/kernel_under_test.h"
#include "lower/strategy.h"
#include "target/tiles_for_test.h"

namespace attune {
namespace {

OperatorCase Conv(const std::string& x, const std::string& w, Ints strides, Ints pads,
                  Ints dilations = {1, 1}) {
  return {Op::kConv,
          {"bf16" + x, "bf16" + w, "bf16[" + w.substr(1, w.find(',') - 1) + "]"},
          {{"strides", std::move(strides)}, {"pads", std::move(pads)}, {"dilations", std::move(dilations)}}};
}

OperatorCase ConvInteger(const std::string& x, const std::string& w, Ints strides, Ints pads,
                         const std::string& left = "u8", const std::string& right = "i8") {
  const auto range = [](const std::string& dtype) { return dtype == "u8" ? " 0..255" : " -128..127"; };
  return {Op::kConvInteger,
          {left + x + range(left), right + w + range(right)},
          {{"strides", std::move(strides)}, {"pads", std::move(pads)}}};
}

std::vector<OperatorCase> Convolutions() {
  return InEachLayout({
      Conv("[1,32,14,14]", "[64,32,3,3]", {1, 1}, {1, 1, 1, 1}),
      Conv("[2,24,9,11]", "[16,24,3,3]", {1, 1}, {0, 1, 1, 0}),
      Conv("[1,32,7,9]", "[48,32,3,3]", {2, 2}, {1, 1, 1, 1}),
      Conv("[1,3,21,23]", "[32,3,7,7]", {2, 2}, {3, 3, 3, 3}),
      Conv("[1,17,6,6]", "[40,17,1,1]", {1, 1}, {0, 0, 0, 0}),
      Conv("[1,16,12,12]", "[24,16,3,3]", {1, 1}, {2, 2, 2, 2}, {2, 2}),
      Conv("[1,8,13,10]", "[16,8,3,2]", {3, 2}, {1, 3, 0, 1}, {2, 3}),
      Conv("[1,20,1,63]", "[80,20,1,1]", {1, 1}, {0, 0, 0, 0}),
      Conv("[1,4,3,500]", "[16,4,1,5]", {1, 1}, {0, 2, 0, 2}),
      ConvInteger("[1,32,14,14]", "[48,32,3,3]", {1, 1}, {1, 1, 1, 1}),
      ConvInteger("[2,24,7,7]", "[32,24,1,1]", {2, 2}, {0, 0, 0, 0}),
      ConvInteger("[1,18,6,6]", "[33,18,3,3]", {1, 1}, {1, 1, 1, 1}, "i8", "i8"),
      ConvInteger("[1,3,17,19]", "[16,3,3,3]", {2, 1}, {1, 1, 1, 1}, "u8", "u8"),
  });
}

std::vector<OperatorCase> Products() {
  return {{Op::kMatMul, {"bf16[128,96]", "bf16[96,100]"}, {}},
          {Op::kMatMul, {"bf16[2,37,64]", "bf16[2,64,33]"}, {}, "", {Op::kRelu}},
          {Op::kMatMul, {"bf16[3,9,32]", "bf16[48,32]"}, {{"transpose_b", int64_t{1}}}},
          {Op::kMatMul, {"bf16[5,2]", "bf16[2,17]"}, {}},
          {Op::kMatMulInteger, {"u8[40,68] 0..255", "i8[68,31] -128..127"}, {}},
          {Op::kMatMulInteger, {"i8[2,17,64] -128..127", "i8[64,64] -128..127"}, {}},
          {Op::kMatMulInteger, {"u8[16,4] 0..255", "u8[4,16] 0..255"}, {}}};
}

std::vector<OperatorCase> Attentions() {
  const Attributes scale = {{"scale", 0.25}};
  return {{Op::kAttention, {"bf16[1,2,128,64]", "bf16[1,2,128,64]", "bf16[1,2,128,64]"}, scale},
          {Op::kAttention, {"bf16[2,1,37,32]", "bf16[2,1,45,32]", "bf16[2,1,45,16]"}, scale},
          {Op::kAttention, {"bf16[1,3,7,9]", "bf16[1,3,33,9]", "bf16[1,3,33,48]", "f32[1,1,7,33]"}, scale}};
}

TEST(MatrixStrategies, MatchTheReference) {
  for (const Target& target : TargetsWithTiles()) {
    ExpectKernelsMatch(Convolutions(), target);
    ExpectKernelsMatch(Products(), target);
    ExpectKernelsMatch(Attentions(), target);
  }
}

// Each case matches with random configs of its space.
TEST(MatrixStrategies, MatchForEveryConfig) {
  constexpr int kConfigs = 6;
  std::vector<OperatorCase> cases = Convolutions();
  for (const auto& more : {Products(), Attentions()}) cases.insert(cases.end(), more.begin(), more.end());
  for (const Target& target : TargetsWithTiles()) {
    const std::vector<OperatorCase> drawn =
        WithDrawnConfigs(cases, {"conv_matrix", "gemm_matrix", "attention_matrix"}, target, kConfigs);
    EXPECT_GT(drawn.size(), cases.size());
    ExpectKernelsMatch(drawn, target);
  }
}

TEST(MatrixStrategies, AreTakenWhereTheyApply) {
  for (const Target& target : TargetsWithTiles()) {
    for (const auto& [test_case, name] :
         {std::pair(Convolutions()[target.vector_bits >= 512 ? 1 : 2], "conv_matrix"),
          std::pair(Products()[0], "gemm_matrix"), std::pair(Attentions()[1], "attention_matrix")}) {
      const absl::StatusOr<GroupUnderTest> group = MakeGroup(test_case);
      ASSERT_TRUE(group.ok()) << group.status();
      const absl::StatusOr<ScheduledGroup> scheduled = ScheduleGroup(*group->region, "taken", target);
      ASSERT_TRUE(scheduled.ok()) << scheduled.status();
      EXPECT_EQ(scheduled->strategy->name, name) << target.name;
    }
  }
}

}  // namespace
}  // namespace attune
