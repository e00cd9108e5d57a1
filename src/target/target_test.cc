#include "target/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TargetByName, KnowsEveryListedName) {
  for (const std::string& name : TargetNames()) {
    const auto target = TargetByName(name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->name, name);
    EXPECT_TRUE(target->Has("fma"));
    EXPECT_EQ(target->vector_bits == 512, target->Has("avx512f"));
    EXPECT_LT(target->l1_bytes, target->l2_bytes);
    EXPECT_LT(target->l2_bytes, target->l3_bytes);
  }
}

TEST(TargetByName, UnknownNameListsTheKnownOnes) {
  const auto target = TargetByName("pentium");
  ASSERT_FALSE(target.ok());
  EXPECT_THAT(std::string(target.status().message()), HasSubstr("'pentium'"));
  EXPECT_THAT(std::string(target.status().message()), HasSubstr("znver4"));
}

TEST(TargetByName, ARowsBandwidthsArrive) {
  const Target usual, xeon = *TargetByName("sapphirerapids");
  EXPECT_GT(xeon.l2_bytes_per_cycle, usual.l2_bytes_per_cycle);
  EXPECT_LT(xeon.l3_bytes_per_cycle, usual.l3_bytes_per_cycle);
  EXPECT_LT(xeon.dram_bytes_per_cycle, usual.dram_bytes_per_cycle);
}

TEST(TargetByName, LanesFollowTheVectorWidth) {
  const Target v3 = *TargetByName("x86-64-v3");
  EXPECT_EQ(v3.Lanes(4), 8);
  EXPECT_EQ(v3.num_vector_registers, 16);
  const Target zen4 = *TargetByName("znver4");
  EXPECT_EQ(zen4.Lanes(1), 64);
}

TEST(TargetByName, TilesNeedTheirInstructions) {
  const Target xeon = *TargetByName("sapphirerapids");
  EXPECT_THAT(xeon.llvm_features, HasSubstr("+amx-tile,+amx-int8,+amx-bf16"));
  for (const char* feature : {"amx_tile", "amx_int8", "amx_bf16", "avx512_bf16"})
    EXPECT_TRUE(xeon.Has(feature));
  for (const char* name : {"cooperlake", "znver5", "x86-64-v3"}) {
    const Target other = *TargetByName(name);
    EXPECT_FALSE(other.Has("amx_tile")) << name;
    EXPECT_THAT(other.llvm_features, Not(HasSubstr("amx"))) << name;
  }
}

TEST(WithModelledTiles, StrategiesMayUseThemAndNoProcessorNeedsThem) {
  const Target zen = *TargetByName("znver4"), modelled = WithModelledTiles(zen);
  EXPECT_THAT(modelled.modelled_features, ElementsAre("amx_tile", "amx_int8", "amx_bf16"));
  EXPECT_EQ(modelled.required_features, zen.required_features);
  EXPECT_EQ(modelled.llvm_features, zen.llvm_features);
  EXPECT_TRUE(modelled.Has("amx_int8"));
  EXPECT_TRUE(modelled.IsModelled("amx_int8"));
  EXPECT_FALSE(zen.IsModelled("amx_int8"));
  EXPECT_FALSE(modelled.IsModelled("avx512_bf16"));
  EXPECT_EQ(WithModelledTiles(modelled), modelled);
  const Target xeon = *TargetByName("sapphirerapids");
  EXPECT_EQ(WithModelledTiles(xeon), xeon);
}

TEST(WithModelledProducts, OfBytesAreThere) {
  const Target zen = *TargetByName("znver3"), modelled = WithModelledProducts(zen);
  EXPECT_THAT(modelled.modelled_features, ElementsAre("avx_vnni", "avx_vnni_int8"));
  EXPECT_EQ(modelled.llvm_features, zen.llvm_features);
  const Target lake = *TargetByName("arrowlake");
  EXPECT_EQ(lake.llvm_features, "+avxvnni,+avxvnniint8");
  EXPECT_EQ(WithModelledProducts(lake), lake);
}

TEST(MissingForBF16, NamesTheInstructionSet) {
  const Target haswell = *TargetByName("haswell"), zen = *TargetByName("znver4");
  EXPECT_EQ(MissingForDotsOfBF16(haswell), "avx512_bf16");
  EXPECT_EQ(MissingForMatricesOfBF16(haswell), "amx_bf16");
  EXPECT_EQ(MissingForDotsOfBF16(zen), "");
  EXPECT_EQ(MissingForMatricesOfBF16(zen), "amx_bf16");
  EXPECT_EQ(MissingForMatricesOfBF16(*TargetByName("sapphirerapids")), "");
  EXPECT_EQ(MissingForMatricesOfBF16(WithModelledTiles(haswell)), "");
}

TEST(MissingForDotsOfInt8, IsVnni) {
  EXPECT_EQ(MissingForDotsOfInt8(*TargetByName("znver3")), "VNNI");
  EXPECT_EQ(MissingForDotsOfInt8(*TargetByName("skylake-avx512")), "VNNI");
  EXPECT_EQ(MissingForDotsOfInt8(*TargetByName("znver4")), "");
  EXPECT_EQ(MissingForDotsOfInt8(*TargetByName("arrowlake")), "");
}

}  // namespace
}  // namespace attune
