#include "artifact/validate_open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "artifact/damaged_files_for_test.h"
#include "artifact/testing/open_sample.h"
#include "artifact/testing/size_steps.h"
#include "artifact/writer.h"
#include "base/random.h"

namespace attune {
namespace {

using namespace testing;  // NOLINT: the sample's kernels, tensors and numbers
using ::testing::HasSubstr;

struct OpenRule {
  const char* message;
  std::function<void(Program&, Variant&)> break_it;
};

class OpenRuleTest : public ::testing::TestWithParam<OpenRule> {};

TEST_P(OpenRuleTest, IsEnforcedByReaderAndWriter) {
  SampleArtifact sample = MakeOpenSampleArtifact();
  Manifest broken = sample.manifest;
  GetParam().break_it(broken.variants[0].programs[0], broken.variants[0]);
  const ArtifactError error = Parse(WriteUnchecked(sample, broken));
  EXPECT_EQ(error.fault, ArtifactFault::kDamaged);
  EXPECT_THAT(error.message, HasSubstr(GetParam().message));
  sample.manifest = broken;
  EXPECT_THAT(WriteArtifact(sample.contents()).status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(All, OpenRuleTest,
                         ::testing::Values(
                             OpenRule{"it has numbers of open sizes, and no open size",
                                      [](Program& p, Variant&) { p.sizes.clear(); }},
                             OpenRule{"it has open sizes and sizes that depend on the data",
                                      [](Program& p, Variant&) { p.num_dims = 1; }},
                             OpenRule{"it has open sizes and an arena of constant size",
                                      [](Program& p, Variant&) { p.arena_bytes = 64; }},
                             OpenRule{"its size \"rows\" has no range",
                                      [](Program& p, Variant&) { p.sizes[0].max = -1; }},
                             OpenRule{"its size \"rows\" has no range",
                                      [](Program& p, Variant&) { p.sizes[0].min = -1; }},
                             OpenRule{"its size \"depth\" is no dimension of an input",
                                      [](Program& p, Variant&) { p.sizes.push_back({"depth", 1, 2}); }},
                             OpenRule{"its size \"columns\" is no dimension of an input",
                                      [](Program& p, Variant&) {
                                        p.numbers[kColumnsNumber].push_back(Constant(1)),
                                            p.numbers[kColumnsNumber].push_back(kTimes);
                                      }},
                             OpenRule{"number 2 names a size that does not exist",
                                      [](Program& p, Variant&) { p.numbers[kXBytes][0].value = 2; }},
                             OpenRule{"number 0 leaves other than one number",
                                      [](Program& p, Variant&) { p.numbers[0].clear(); }},
                             OpenRule{"it has more blocks than 65536",
                                      [](Program& p, Variant&) { p.blocks.resize(kMaxArenaBlocks + 1); }},
                             OpenRule{"block 0 has a number of bytes that does not exist",
                                      [](Program& p, Variant&) { p.blocks[0].bytes = kNumOpenNumbers; }},
                             OpenRule{"block 4 has no life",
                                      [](Program& p, Variant&) { p.blocks[kPairBlock].last = 10; }},
                             OpenRule{"block 4 has no life",
                                      [](Program& p, Variant&) { p.blocks[kPairBlock].first = 9; }},
                             OpenRule{"instruction 1 uses \"twice\" while its memory is not its own",
                                      [](Program& p, Variant&) { p.blocks[kPairBlock].first = 2; }},
                             OpenRule{"instruction 8 uses \"four\" while its memory is not its own",
                                      [](Program& p, Variant&) { p.blocks[kPairBlock].last = 7; }},
                             OpenRule{"the memory of port \"x\" is not its own",
                                      [](Program& p, Variant&) { p.blocks[0] = {kXBytes, 0, 9, false}; }},
                             OpenRule{"the ports \"x\" and \"vectors\" share memory",
                                      [](Program& p, Variant&) { p.tensors[kOpenVectors].block = 0; }},
                             OpenRule{"tensor \"x\" has not one open size a dimension",
                                      [](Program& p, Variant&) { p.tensors[kOpenX].open_shape.pop_back(); }},
                             OpenRule{"tensor \"x\" has an open size that does not exist",
                                      [](Program& p, Variant&) {
                                        p.tensors[kOpenX].open_shape[0] = kNumOpenNumbers;
                                      }},
                             OpenRule{"tensor \"x\" has an open size that does not exist",
                                      [](Program& p, Variant&) { p.tensors[kOpenX].open_shape[0] = -2; }},
                             OpenRule{"tensor \"x\" has a negative bound",
                                      [](Program& p, Variant&) { p.tensors[kOpenX].shape[0] = -1; }},
                             OpenRule{"tensor \"x\" has no block",
                                      [](Program& p, Variant&) { p.tensors[kOpenX].block = -1; }},
                             OpenRule{"tensor \"x\" has no block",
                                      [](Program& p, Variant&) { p.tensors[kOpenX].block = -7; }},
                             OpenRule{"tensor \"x\" has no block",
                                      [](Program& p, Variant&) { p.tensors[kOpenX].block = 99; }},
                             OpenRule{"tensor \"limits\" has a block where there is none",
                                      [](Program& p, Variant&) { p.tensors[kOpenLimits].block = 0; }},
                             OpenRule{"tensor \"x\" has an offset that does not exist",
                                      [](Program& p, Variant&) {
                                        p.tensors[kOpenX].open_offset = kNumOpenNumbers;
                                      }},
                             OpenRule{"tensor \"four\" has two offsets",
                                      [](Program& p, Variant&) { p.tensors[kOpenFour].offset = 64; }},
                             OpenRule{"tensor \"limits\" has two offsets",
                                      [](Program& p, Variant&) { p.tensors[kOpenLimits].open_offset = 0; }},
                             OpenRule{"tensor \"twice\" is not aligned",
                                      [](Program& p, Variant&) { p.tensors[kOpenTwice].offset = 4; }},
                             OpenRule{
                                 "tensor \"twice\" is not aligned",
                                 [](Program& p, Variant&) { p.tensors[kOpenTwice].offset = ~uint64_t{63}; }},
                             OpenRule{"tensor \"limits\" is a constant of open shape",
                                      [](Program& p, Variant&) {
                                        p.tensors[kOpenLimits].open_shape = {kRowsNumber, -1};
                                      }},
                             OpenRule{"tensor \"x\" has a constant number of bytes and an open shape",
                                      [](Program& p, Variant&) { p.tensors[kOpenX].bytes = 16; }},
                             OpenRule{
                                 "tensor \"done\" asks for too much memory",
                                 [](Program& p, Variant&) { p.tensors[kOpenDone].bytes = ~uint64_t{0}; }},
                             OpenRule{"tensor \"done\" has fewer bytes than its shape needs",
                                      [](Program& p, Variant&) { p.tensors[kOpenDone].bytes = 0; }},
                             OpenRule{"instruction 1 calls \"add_open\" with 0 sizes, and it takes 1",
                                      [](Program& p, Variant&) { p.instructions[1].sizes.clear(); }},
                             OpenRule{"instruction 5 calls \"start\" with 1 sizes, and it takes 0",
                                      [](Program& p, Variant&) { p.instructions[5].sizes = {0}; }},
                             OpenRule{
                                 "instruction 1 calls \"add_open\" with a size that does not exist",
                                 [](Program& p, Variant&) { p.instructions[1].sizes = {kNumOpenNumbers}; }},
                             OpenRule{"instruction 8 has sizes and calls nothing",
                                      [](Program& p, Variant&) { p.instructions[8].sizes = {0}; }},
                             OpenRule{"instruction 0 checks indices of another number of axes",
                                      [](Program& p, Variant&) { p.instructions[0].sizes = {0, 0}; }},
                             OpenRule{"instruction 0 checks indices of another number of axes",
                                      [](Program& p, Variant&) {
                                        p.tensors[kOpenIndices].shape = {8};
                                        p.tensors[kOpenLimits].shape = {2, 8};
                                        p.tensors[kOpenLimits].bytes = 128;
                                      }},
                             OpenRule{"instruction 7 branches on other than a bool",
                                      [](Program& p, Variant&) {
                                        p.tensors[kOpenDone].shape = {1};
                                        p.tensors[kOpenDone].dim_slots = {-1};
                                        p.tensors[kOpenDone].open_shape = {kRowsNumber};
                                        p.tensors[kOpenDone].bytes = 0;
                                      }},
                             OpenRule{
                                 "kernel \"add_open\" has sizes and dim slots",
                                 [](Program&, Variant& v) { v.kernels[kAddOpen].interface.num_dims = 1; }},
                             OpenRule{
                                 "kernel \"add_open\" has code over sizes, and no sizes",
                                 [](Program&, Variant& v) { v.kernels[kAddOpen].interface.num_sizes = 0; }},
                             OpenRule{"kernel \"multiply_open\" needs scratch by code that names a size that "
                                      "does not exist",
                                      [](Program&, Variant& v) {
                                        v.kernels[kMultiplyOpen].interface.open_scratch[0].value = 2;
                                      }},
                             OpenRule{"kernel \"add_open\" has an operand by code that lacks a number",
                                      [](Program&, Variant& v) {
                                        v.kernels[kAddOpen].interface.operands[0].open_bytes.erase(
                                            v.kernels[kAddOpen].interface.operands[0].open_bytes.begin());
                                      }},
                             OpenRule{
                                 "prepacking 0 calls \"add_open\", which does not make one tensor of another",
                                 [](Program&, Variant& v) {
                                   v.kernels[kAddOpen].interface.operands.erase(
                                       v.kernels[kAddOpen].interface.operands.begin());
                                   v.kernels[kAddOpen].interface.operands[1].in_place_of.clear();
                                   v.prepackings = {{kAddOpen, 0, 0}};
                                 }}));

TEST(OpenArtifactTest, ReadsWhatWasWritten) {
  for (const SampleArtifact& sample : {MakeOpenSampleArtifact(), MakeOpenSampleArtifactWithLikelySizes()}) {
    const std::string file = sample.Write();
    ArtifactView view;
    const ArtifactError error = ParseArtifact(Bytes(file), &view);
    ASSERT_TRUE(error.ok()) << error.message;
    EXPECT_EQ(view.manifest, sample.manifest);
  }
}

TEST(OpenArtifactTest, VersionsBeforeHaveNone) {
  const SampleArtifact sample = MakeOpenSampleArtifact();
  EXPECT_FALSE(Parse(WriteUnchecked(sample, sample.manifest, /*repair_kernels=*/true, 5)).ok());
}

// Any bytes give an error or a valid manifest, and never a crash.
TEST(OpenArtifactTest, SurvivesFlippedBitsWithRightChecksums) {
  const std::string file = MakeOpenSampleArtifact().Write();
  const format::Header header = HeaderOf(file);
  const size_t end = header.manifest.offset + header.manifest.bytes;
  ASSERT_GT(end, 0u);
  Random random(4);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string flipped = file;
    for (int flips = 1 + static_cast<int>(random.Next() % 3); flips > 0; --flips) {
      const size_t at = random.Next() % end;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random.Next() % 8)));
    }
    RepairChecksums(flipped);
    refused += !Parse(flipped).ok();
  }
  EXPECT_GT(refused, 1000);  // the other flips change texts and the like
}

}  // namespace
}  // namespace attune
