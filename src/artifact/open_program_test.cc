#include "artifact/open_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "artifact/testing/open_sample.h"
#include "artifact/testing/size_steps.h"
#include "artifact/validate.h"
#include "base/random.h"

namespace attune {
namespace {

using namespace testing;  // NOLINT: the sample's kernels, tensors and numbers
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Places the sample after `change`, which must leave it valid, at n = 5 and s = 3 unless others are given.
PlacementError Place(const std::function<void(Program&, Variant&)>& change,
                     const std::vector<int64_t>& sizes = {5, 3}) {
  SampleArtifact sample = MakeOpenSampleArtifact();
  change(sample.program(), sample.variant());
  EXPECT_EQ(ValidateManifest(sample.manifest, sample.code.size(), sample.constants.size()), "");
  ProgramPlacement placement;
  return OpenProgram(sample.program(), sample.variant().kernels).Place(sizes, &placement);
}

TEST(OpenProgramTest, GivesShapesSizesAndScratch) {
  SampleArtifact sample = MakeOpenSampleArtifact();
  ProgramPlacement placement;
  const int64_t sizes[] = {5, 3};
  ASSERT_TRUE(OpenProgram(sample.program(), sample.variant().kernels).Place(sizes, &placement).ok());
  EXPECT_THAT(placement.sizes, ElementsAre(5, 3));
  EXPECT_THAT(placement.dims, ElementsAre(5, 4, 3, 3, 5, 3, 5, 5, 4, 5, 4, 5, 3, 2, 1, 20, 5,
                                          3));  // counter and done have none
  EXPECT_THAT(placement.call_sizes, ElementsAre(5, 5, 5, 5, 3));
  EXPECT_EQ(placement.scratch_bytes, 12u);
  EXPECT_EQ(placement.offsets[kOpenFour], placement.offsets[kOpenTwice] + 128);  // 80 bytes, rounded up
}

// Two tensors share bytes only if they are never in use at the same time.
TEST(OpenProgramTest, PlacesBlocksApart) {
  SampleArtifact sample = MakeOpenSampleArtifact();
  const Program& program = sample.program();
  OpenProgram open(program, sample.variant().kernels);
  ProgramPlacement placement;
  Random random(6);
  for (int round = 0; round < 200; ++round) {
    const int64_t sizes[] = {random.Integer(0, kMaxOpenRows), random.Integer(1, kMaxOpenColumns)};
    const PlacementError error = open.Place(sizes, &placement);
    ASSERT_TRUE(error.ok()) << error.message;
    std::vector<ByteRange> extents;  // of the blocks
    for (const TensorInfo& tensor : program.tensors) {
      if (static_cast<size_t>(tensor.block) != extents.size()) continue;  // the second of a block, a constant
      int64_t bytes = 0;
      const SizeCode& code = program.numbers[program.blocks[extents.size()].bytes];
      ASSERT_EQ(Evaluate(code, sizes, &bytes), SizeFault::kNone);
      const uint64_t begin = placement.offsets[static_cast<size_t>(&tensor - program.tensors.data())];
      EXPECT_EQ(begin % kTensorAlignment, 0u);
      extents.push_back({0, begin, begin + static_cast<uint64_t>(bytes)});
      EXPECT_LE(extents.back().end, placement.arena_bytes);
    }
    ASSERT_EQ(extents.size(), program.blocks.size());
    for (size_t a = 0; a < extents.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        const ArenaBlock &x = program.blocks[a], &y = program.blocks[b];
        if (!x.pinned && !y.pinned && (x.last < y.first || y.last < x.first)) continue;
        EXPECT_FALSE(extents[a].Overlaps(extents[b])) << a << " and " << b;
      }
    }
  }
}

struct Broken {
  PlacementFault fault;
  const char* message;
  std::function<void(Program&, Variant&)> break_it;
};

class BrokenAtSizesTest : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenAtSizesTest, IsAnError) {
  const PlacementError error = Place(GetParam().break_it);
  EXPECT_EQ(error.fault, GetParam().fault);
  EXPECT_THAT(error.message, HasSubstr(GetParam().message));
}

constexpr int64_t kHuge = int64_t{1} << 62;

INSTANTIATE_TEST_SUITE_P(
    All, BrokenAtSizesTest,
    ::testing::Values(
        Broken{PlacementFault::kTooLarge, "number 10 is too large",
               [](Program& p, Variant&) { p.numbers[kFlatSize][1].value = kHuge; }},
        Broken{PlacementFault::kDamaged, "number 10 is negative",
               [](Program& p, Variant&) { p.numbers[kFlatSize][1].value = -1; }},
        Broken{PlacementFault::kDamaged, "number 10 divides by a number that is not positive",
               [](Program& p, Variant&) {
                 p.numbers[kFlatSize] = {Size(0), Size(0), Constant(-5), kPlus, kOver};
               }},
        Broken{PlacementFault::kTooLarge, "block 0 asks for more than 2^40 bytes",
               [](Program& p, Variant&) { p.numbers[kXBytes][1].value = int64_t{1} << 40; }},
        Broken{PlacementFault::kTooLarge, "the program asks for more than 2^40 bytes",
               [](Program& p, Variant&) { p.numbers[kVectorBytes][3].value = int64_t{1} << 35; }},
        Broken{PlacementFault::kDamaged, "tensor \"x\" has 5 in dimension 0, over its bound of 4",
               [](Program& p, Variant&) { p.tensors[kOpenX].shape[0] = 4; }},
        Broken{PlacementFault::kDamaged, "tensor \"x\" lies outside its block",
               [](Program& p, Variant&) { p.numbers[kXBytes][1].value = 15; }},
        Broken{PlacementFault::kDamaged, "tensor \"counter\" lies outside its block",
               [](Program& p, Variant&) { p.numbers[kEightBytes][0].value = 7; }},
        Broken{PlacementFault::kDamaged, "tensor \"twice\" lies outside its block",
               [](Program& p, Variant&) { p.tensors[kOpenTwice].offset = 192; }},
        Broken{PlacementFault::kDamaged, "tensor \"four\" lies outside its block",
               [](Program& p, Variant&) {
                 p.numbers[kFourOffset].back() = kLarger, p.numbers[kFourOffset][7].value = 1 << 20;
               }},
        Broken{PlacementFault::kDamaged, "tensor \"four\" is not aligned",
               [](Program& p, Variant&) { p.numbers[kFourOffset] = {Constant(96)}; }},
        Broken{PlacementFault::kTooLarge, "tensor \"matrix\" asks for more than 2^40 bytes",
               [](Program& p, Variant&) {
                 p.tensors[kOpenMatrix].shape[0] = kHuge;
                 p.tensors[kOpenMatrix].open_shape[0] = -1;
               }},
        Broken{PlacementFault::kDamaged,
               "instruction 4 calls \"multiply_open\" with a tensor that is too small",
               [](Program& p, Variant&) { p.instructions[4].sizes = {kRowsNumber, kRowsNumber}; }},
        Broken{PlacementFault::kDamaged,
               "instruction 4 calls \"multiply_open\" with operands that it cannot have",
               [](Program& p, Variant&) {
                 p.numbers[kFlatSize] = {Constant(kHuge)};
                 p.tensors[kOpenFlat].open_shape = {-1};
                 p.tensors[kOpenFlat].shape = {20};
                 p.tensors[kOpenFlat].bytes = 80;
                 p.instructions[4].sizes = {kFlatSize, kColumnsNumber};
               }},
        Broken{
            PlacementFault::kTooLarge, "instruction 4 calls \"multiply_open\", which asks for more than 2^40",
            [](Program&, Variant& v) { v.kernels[kMultiplyOpen].interface.open_scratch[1].value = kHuge; }},
        Broken{PlacementFault::kTooLarge,
               "instruction 4 calls \"multiply_open\", which asks for more than 2^40",
               [](Program&, Variant& v) {
                 v.kernels[kMultiplyOpen].interface.open_scratch[1].value = int64_t{1} << 40;
               }},
        Broken{PlacementFault::kDamaged,
               "instruction 4 calls \"multiply_open\" with scratch that cannot be computed",
               [](Program&, Variant& v) { v.kernels[kMultiplyOpen].interface.open_scratch[1].value = -1; }},
        Broken{PlacementFault::kDamaged, "instruction 2 calls \"add_open\" to write memory that it also uses",
               [](Program& p, Variant&) { p.numbers[kFourOffset] = {Constant(64)}; }},
        Broken{PlacementFault::kDamaged, "instruction 3 calls \"add_open\" to write memory that it also uses",
               [](Program&, Variant& v) { v.kernels[kAddOpen].interface.operands[2].in_place_of.clear(); }},
        Broken{PlacementFault::kDamaged, "instruction 8 copies between two shapes",
               [](Program& p, Variant&) { p.numbers[kFlatSize][1].value = 3; }},
        Broken{PlacementFault::kDamaged, "instruction 9 copies a tensor onto itself",
               [](Program& p, Variant&) { p.instructions[9].tensors = {kOpenResult, kOpenResult}; }}));

TEST(OpenProgramTest, ATensorWithoutElementsFits) {
  EXPECT_TRUE(Place([](Program&, Variant&) {}, {0, 1}).ok());
}

}  // namespace
}  // namespace attune
