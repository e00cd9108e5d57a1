#include "artifact/artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "artifact/encode.h"
#include "artifact/expand.h"
#include "artifact/reader.h"
#include "artifact/testing/sample_artifact.h"
#include "artifact/writer.h"
#include "base/random.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using testing::kAdd;
using testing::kColsOut;
using testing::kCopied;
using testing::kCounter;
using testing::kDone;
using testing::kKeepColumns;
using testing::kKeepRows;
using testing::kRowsOut;
using testing::kSum;
using testing::kW;
using testing::kX;
using testing::MakeCompressedSampleArtifact;
using testing::MakeSampleArtifact;
using testing::RepairChecksums;
using testing::SampleArtifact;

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

ArtifactError Parse(const std::string& file) {
  ArtifactView view;
  return ParseArtifact(Bytes(file), &view);
}

format::Header HeaderOf(const std::string& file) {
  format::Header header;
  format::Decoder decoder(Bytes(file));
  decoder(header);
  return header;
}

// The file with `change` made to its header, whose checksum is right again.
std::string WithHeader(std::string file, const std::function<void(format::Header&)>& change,
                       bool repair_kernels = true) {
  format::Header header = HeaderOf(file);
  change(header);
  format::Encoder encoder;
  encoder(header);
  file.replace(0, encoder.bytes().size(), encoder.bytes());
  RepairChecksums(file, repair_kernels);
  return file;
}

// The file of a manifest that the writer would refuse: written with a valid one, which is then replaced.
std::string WriteUnchecked(const SampleArtifact& sample, const Manifest& manifest,
                           bool repair_kernels = true) {
  std::string file = sample.Write();
  format::Header header = HeaderOf(file);
  Manifest encoded = manifest;
  format::Encoder encoder;
  encoder(encoded);
  std::string body = file.substr(header.code.offset);
  file.resize(format::kHeaderBytes);
  file += encoder.bytes();
  file.resize((file.size() + format::kPageBytes - 1) / format::kPageBytes * format::kPageBytes);
  const int64_t shift = static_cast<int64_t>(file.size()) - static_cast<int64_t>(header.code.offset);
  file += body;
  return WithHeader(
      file,
      [&](format::Header& h) {
        h.manifest.bytes = encoder.bytes().size();
        h.code.offset += shift;
        h.constants.offset += shift;
        h.file_bytes = file.size();
      },
      repair_kernels);
}

TEST(ArtifactTest, ReadsWhatWasWritten) {
  const SampleArtifact sample = MakeSampleArtifact();
  const std::string file = sample.Write();
  ArtifactView view;
  const ArtifactError error = ParseArtifact(Bytes(file), &view);
  ASSERT_TRUE(error.ok()) << error.message;
  EXPECT_EQ(view.manifest, sample.manifest);
  EXPECT_THAT(view.code, ::testing::ElementsAreArray(sample.code));
  EXPECT_THAT(view.constants, ::testing::ElementsAreArray(sample.constants));
  EXPECT_TRUE(VerifyConstants(view).ok());
  EXPECT_EQ((view.constants.data() - Bytes(file).data()) % format::kPageBytes, 0);
}

TEST(ArtifactTest, ReadsCompressedConstants) {
  const SampleArtifact sample = MakeCompressedSampleArtifact();
  ASSERT_EQ(sample.manifest.constant_ranges.size(), 1u);
  EXPECT_EQ(sample.manifest.constant_ranges[0].encoding, ConstantEncoding::kIndices);
  EXPECT_EQ(IndexBits(sample.manifest.constant_ranges[0]), 6);  // 55 values
  const std::string file = sample.Write();
  ArtifactView view;
  const ArtifactError error = ParseArtifact(Bytes(file), &view);
  ASSERT_TRUE(error.ok()) << error.message;
  EXPECT_EQ(view.manifest, sample.manifest);
  const std::vector<std::byte> expected = MakeSampleArtifact().constants;
  EXPECT_LT(view.constants.size(), expected.size() / 2);
  ASSERT_EQ(ExpandedBytes(view.manifest, view.constants.size()), expected.size());
  std::vector<std::byte> constants(expected.size());
  ExpandConstants(view.manifest.constant_ranges, view.constants, constants);
  EXPECT_EQ(constants, expected);
}

TEST(ArtifactTest, EqualContentsGiveEqualBytes) {
  EXPECT_EQ(MakeSampleArtifact().Write(), MakeSampleArtifact().Write());
  EXPECT_EQ(MakeCompressedSampleArtifact().Write(), MakeCompressedSampleArtifact().Write());
}

TEST(ArtifactTest, AnEmptyNetworkIsAnArtifact) {
  const std::string file = WriteArtifact({}).value();
  EXPECT_TRUE(Parse(file).ok());
}

TEST(ArtifactTest, RefusesOtherFiles) {
  EXPECT_EQ(Parse("").fault, ArtifactFault::kNotArtifact);
  EXPECT_EQ(Parse("ONNX").fault, ArtifactFault::kNotArtifact);
  EXPECT_THAT(Parse(std::string(1000, 'x')).message, HasSubstr("is not an Attune artifact"));
}

TEST(ArtifactTest, RefusesOtherVersions) {
  const std::string file =
      WithHeader(MakeSampleArtifact().Write(), [](format::Header& header) { header.version = 7; });
  EXPECT_EQ(Parse(file).fault, ArtifactFault::kOtherVersion);
  EXPECT_THAT(Parse(file).message, HasSubstr("has format version 7, and this runtime reads 3"));
}

TEST(ArtifactTest, RefusesEveryShorterFile) {
  const std::string file = MakeSampleArtifact().Write();
  for (size_t size = 1; size < file.size(); size += size < 400 ? 1 : 37) {
    const ArtifactError error = Parse(file.substr(0, size));
    ASSERT_EQ(error.fault, ArtifactFault::kCutShort) << size;
    ASSERT_THAT(error.message, HasSubstr("is cut short: it has " + std::to_string(size) + " bytes of"));
  }
}

TEST(ArtifactTest, RefusesFilesCutAtASectionWhoseSizeIsMended) {
  const std::string file = MakeSampleArtifact().Write();
  const format::Header header = HeaderOf(file);
  for (const size_t size : {size_t{format::kHeaderBytes}, header.manifest.offset + header.manifest.bytes,
                            header.code.offset, header.code.offset + header.code.bytes,
                            header.constants.offset, header.constants.offset + header.constants.bytes}) {
    const std::string cut = WithHeader(file.substr(0, size), [&](format::Header& h) { h.file_bytes = size; });
    EXPECT_THAT(Parse(cut).message, HasSubstr("sections do not fit")) << size;
  }
}

TEST(ArtifactTest, RefusesLongerFiles) {
  EXPECT_THAT(Parse(MakeSampleArtifact().Write() + "x").message, HasSubstr("bytes follow its end"));
}

TEST(ArtifactTest, NoticesEveryFlippedBitOfHeaderManifestAndCode) {
  const std::string file = MakeSampleArtifact().Write();
  const format::Header header = HeaderOf(file);
  Random random(1);
  for (const auto& [begin, bytes] : {std::pair<uint64_t, uint64_t>{0, format::kHeaderBytes},
                                     {header.manifest.offset, header.manifest.bytes},
                                     {header.code.offset, header.code.bytes}}) {
    for (int i = 0; i < 300; ++i) {
      std::string flipped = file;
      const size_t at = begin + random.Next() % bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random.Next() % 8)));
      ASSERT_FALSE(Parse(flipped).ok()) << at;
    }
  }
}

TEST(ArtifactTest, NoticesDamagedConstantsWhenAsked) {
  std::string file = MakeSampleArtifact().Write();
  file[HeaderOf(file).constants.offset + 5] ^= 1;
  ArtifactView view;
  ASSERT_TRUE(ParseArtifact(Bytes(file), &view).ok());
  EXPECT_EQ(VerifyConstants(view).fault, ArtifactFault::kDamaged);
}

// Whatever the bytes: an error or a manifest that keeps the rules, and never a crash.
TEST(ArtifactTest, SurvivesFlippedBitsWithRightChecksums) {
  const std::string file = MakeSampleArtifact().Write();
  const format::Header header = HeaderOf(file);
  Random random(2);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string flipped = file;
    for (int flips = 1 + static_cast<int>(random.Next() % 3); flips > 0; --flips) {
      const size_t at = random.Next() % (header.manifest.offset + header.manifest.bytes);
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random.Next() % 8)));
    }
    RepairChecksums(flipped);
    const ArtifactError error = Parse(flipped);
    refused += !error.ok();
    if (!error.ok()) ASSERT_FALSE(error.message.empty());
  }
  EXPECT_GT(refused, 1000);  // the rest flips texts and the like
}

TEST(ArtifactTest, AKernelMayComputeInPlaceOfAnInput) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.manifest.program[0].tensors = {kSum, kW, kSum};  // as the kernel declares
  EXPECT_TRUE(Parse(sample.Write()).ok());
}

// A manifest that is sound in itself, with another's code.
TEST(ArtifactTest, RefusesKernelsThatAreNotThoseOfTheCode) {
  const SampleArtifact sample = MakeSampleArtifact();
  const std::vector<std::function<void(Manifest&)>> changes = {
      [](Manifest& m) { m.kernels[kKeepRows].interface.code_offset += kKernelAlignment; },
      [](Manifest& m) {
        std::swap(m.kernels[kAdd].interface.code_offset, m.kernels[kKeepRows].interface.code_offset);
      },
      [](Manifest& m) { m.kernels[kAdd].interface.operands[0].bytes -= 1; },
      [](Manifest& m) { m.kernels[kAdd].interface.parallel = false; }};
  for (const auto& change : changes) {
    Manifest changed = sample.manifest;
    change(changed);
    EXPECT_THAT(Parse(WriteUnchecked(sample, changed, /*repair_kernels=*/false)).message,
                HasSubstr("its kernels are not those of its code"));
    EXPECT_TRUE(Parse(WriteUnchecked(sample, changed)).ok());
  }
  std::string file = sample.Write();
  file[HeaderOf(file).code.offset] ^= 1;
  RepairChecksums(file, /*repair_kernels=*/false);
  EXPECT_THAT(Parse(file).message, HasSubstr("its kernels are not those of its code"));
}

TEST(ArtifactTest, AHugeCountInASmallFileIsRefused) {
  Manifest manifest = MakeSampleArtifact().manifest;
  std::string file = MakeSampleArtifact().Write();
  const format::Header header = HeaderOf(file);
  // The manifest starts with the length of the architecture's name.
  file.replace(header.manifest.offset, 4, "\xFF\xFF\xFF\x7F");
  RepairChecksums(file);
  EXPECT_THAT(Parse(file).message, HasSubstr("its manifest is malformed"));
}

struct Rule {
  const char* message;
  std::function<void(Manifest&)> break_it;
};

class ManifestRuleTest : public ::testing::TestWithParam<Rule> {};

TEST_P(ManifestRuleTest, IsEnforcedByReaderAndWriter) {
  SampleArtifact sample = MakeSampleArtifact();
  Manifest broken = sample.manifest;
  GetParam().break_it(broken);
  const ArtifactError error = Parse(WriteUnchecked(sample, broken));
  EXPECT_EQ(error.fault, ArtifactFault::kDamaged);
  EXPECT_THAT(error.message, HasSubstr(GetParam().message));
  sample.manifest = broken;
  EXPECT_THAT(WriteArtifact(sample.contents()).status().message(), HasSubstr(GetParam().message));
}

constexpr uint64_t kWBytes = testing::kRows * testing::kColumns * sizeof(float);

// The sample's constants as one range of indices with a codebook of `values`.
void SetIndices(Manifest& manifest, size_t values, ConstantEncoding encoding = ConstantEncoding::kIndices) {
  manifest.constant_ranges = {{encoding, kWBytes, std::vector<uint32_t>(values)}};
}

INSTANTIATE_TEST_SUITE_P(
    All, ManifestRuleTest,
    ::testing::Values(
        Rule{"asks for too much memory", [](Manifest& m) { m.arena_bytes = uint64_t{1} << 60; }},
        Rule{"asks for too much memory", [](Manifest& m) { m.scratch_bytes = ~uint64_t{0}; }},
        Rule{"asks for too much memory",
             [](Manifest& m) {
               m.constant_ranges.assign(3, {ConstantEncoding::kRaw, uint64_t{1} << 45, {}});
             }},
        Rule{"range 0 of the constants has an impossible size",
             [](Manifest& m) { m.constant_ranges = {{ConstantEncoding::kRaw, kWBytes - 64, {}}}; }},
        Rule{"range 1 of the constants has an impossible size",
             [](Manifest& m) {
               m.constant_ranges = {{ConstantEncoding::kRaw, kWBytes, {}},
                                    {ConstantEncoding::kF16, ~uint64_t{127}, {}}};
             }},
        Rule{"its constants take 1408 bytes by their ranges and have 1536",
             [](Manifest& m) { m.constant_ranges = {{ConstantEncoding::kRaw, kWBytes - 128, {}}}; }},
        Rule{"its constants take 768 bytes by their ranges and have 1536",
             [](Manifest& m) { m.constant_ranges = {{ConstantEncoding::kF16, kWBytes, {}}}; }},
        Rule{"its constants take 128 bytes by their ranges", [](Manifest& m) { SetIndices(m, 2); }},
        Rule{"its constants take 384 bytes by their ranges", [](Manifest& m) { SetIndices(m, 256); }},
        Rule{"a codebook of 0 values", [](Manifest& m) { SetIndices(m, 0); }},
        Rule{"a codebook of 1 values", [](Manifest& m) { SetIndices(m, 1); }},
        Rule{"a codebook of 55 values", [](Manifest& m) { SetIndices(m, 55); }},
        Rule{"a codebook of 512 values", [](Manifest& m) { SetIndices(m, 512); }},
        Rule{"a codebook of 48 values",
             [](Manifest& m) { SetIndices(m, 48, ConstantEncoding::kByteIndices); }},
        Rule{"a codebook of 512 values",
             [](Manifest& m) { SetIndices(m, 512, ConstantEncoding::kByteIndices); }},
        Rule{"a codebook whose value 256 is no byte",
             [](Manifest& m) {
               SetIndices(m, 16, ConstantEncoding::kByteIndices);
               m.constant_ranges[0].codebook[3] = 256;
             }},
        Rule{"its constants take 768 bytes by their ranges and have 1536",
             [](Manifest& m) { SetIndices(m, 16, ConstantEncoding::kByteIndices); }},
        Rule{"a codebook without indices",
             [](Manifest& m) { m.constant_ranges = {{ConstantEncoding::kRaw, kWBytes, {1, 2}}}; }},
        Rule{"more dim slots than dimensions", [](Manifest& m) { m.num_dims = 1000; }},
        Rule{"tensor \"x\" has an unknown dtype", [](Manifest& m) { m.tensors[kX].dtype = 13; }},
        Rule{"not one dim slot a dimension", [](Manifest& m) { m.tensors[kX].dim_slots.pop_back(); }},
        Rule{"a dim slot that does not exist", [](Manifest& m) { m.tensors[kRowsOut].dim_slots[0] = 3; }},
        Rule{"a dim slot that does not exist", [](Manifest& m) { m.tensors[kRowsOut].dim_slots[0] = -2; }},
        Rule{"a constant of dynamic shape", [](Manifest& m) { m.tensors[kW].dim_slots[0] = 0; }},
        Rule{"has too many dimensions",
             [](Manifest& m) {
               m.tensors[kX].shape.assign(65, 1);
               m.tensors[kX].dim_slots.assign(65, -1);
             }},
        Rule{"negative or too large shape", [](Manifest& m) { m.tensors[kX].shape[0] = -1; }},
        Rule{"negative or too large shape",
             [](Manifest& m) { m.tensors[kX].shape = {int64_t{1} << 62, int64_t{1} << 62}; }},
        Rule{"fewer bytes than its shape needs", [](Manifest& m) { m.tensors[kX].bytes -= 1; }},
        Rule{"tensor \"x\" is not aligned", [](Manifest& m) { m.tensors[kX].offset += 32; }},
        Rule{"lies outside its place", [](Manifest& m) { m.tensors[kX].offset = m.arena_bytes; }},
        Rule{"lies outside its place", [](Manifest& m) { m.tensors[kX].offset = ~uint64_t{63}; }},
        Rule{"lies outside its place", [](Manifest& m) { m.tensors[kW].offset = 128; }},
        Rule{"input \"x\" is no tensor", [](Manifest& m) { m.inputs[0].tensor = 99; }},
        Rule{"input \"x\" is not in the arena", [](Manifest& m) { m.inputs[0].tensor = kW; }},
        Rule{"input \"x\" has a dynamic shape", [](Manifest& m) { m.inputs[0].tensor = kRowsOut; }},
        Rule{"the ports \"x\" and \"again\" share memory",
             [](Manifest& m) { m.inputs.push_back({"again", kX}); }},
        Rule{"output \"sum\" is no tensor", [](Manifest& m) { m.outputs[0].tensor = 99; }},
        Rule{"output \"sum\" is not in the arena", [](Manifest& m) { m.outputs[0].tensor = kW; }},
        Rule{"the ports \"columns\" and \"again\" share memory",
             [](Manifest& m) { m.outputs.push_back({"again", kColsOut}); }},
        Rule{"the ports \"x\" and \"rows\" share memory",
             [](Manifest& m) { m.tensors[kRowsOut].offset = m.tensors[kX].offset + 64; }},
        Rule{"kernel \"add\" does not start inside the code",
             [](Manifest& m) { m.kernels[0].interface.code_offset = 1 << 20; }},
        Rule{"kernel \"fill_scratch\" needs more scratch than there is",
             [](Manifest& m) { m.scratch_bytes -= 1; }},
        Rule{"kernel \"keep_columns\" writes dim slots that do not exist",
             [](Manifest& m) { m.kernels[kKeepColumns].interface.num_dims = 4; }},
        Rule{"kernel \"add\" has an operand of an unknown dtype",
             [](Manifest& m) { m.kernels[kAdd].interface.operands[1].dtype = 13; }},
        Rule{"kernel \"add\" computes in place of more than it has",
             [](Manifest& m) { m.kernels[kAdd].interface.operands[2].in_place_of.assign(4, 0); }},
        Rule{"kernel \"add\" computes in place of what is no input",
             [](Manifest& m) { m.kernels[kAdd].interface.operands[2].in_place_of = {3}; }},
        Rule{"kernel \"add\" computes in place of what is no input",
             [](Manifest& m) { m.kernels[kAdd].interface.operands[2].in_place_of = {2}; }},
        Rule{"kernel \"add\" computes in place of what is no input",
             [](Manifest& m) { m.kernels[kAdd].interface.operands[1].in_place_of = {0}; }},
        Rule{"instruction 0 calls \"add\" with 0 tensors, and it takes 3",
             [](Manifest& m) { m.program[0].tensors.clear(); }},
        Rule{"instruction 0 calls \"add\" with 4 tensors, and it takes 3",
             [](Manifest& m) { m.program[0].tensors.push_back(kX); }},
        Rule{"instruction 3 calls \"keep_rows\" with 1 tensors, and it takes 2",
             [](Manifest& m) { m.program[3].kernel = kKeepRows; }},
        Rule{"instruction 0 calls \"add\" with a tensor of another dtype",
             [](Manifest& m) { m.program[0].tensors[0] = kDone; }},
        Rule{"instruction 0 calls \"add\" with a tensor that is too small",
             [](Manifest& m) { m.kernels[kAdd].interface.operands[0].bytes += 1; }},
        Rule{"instruction 0 calls \"add\" to write a constant",
             [](Manifest& m) { m.program[0].tensors[2] = kW; }},
        Rule{"instruction 0 calls \"add\" to write what it also uses",
             [](Manifest& m) { m.program[0].tensors = {kX, kX, kX}; }},
        Rule{"instruction 0 calls \"add\" to write what it also uses",
             [](Manifest& m) { m.program[0].tensors = {kW, kX, kX}; }},
        Rule{"instruction 1 calls \"keep_rows\" to write what it also uses",
             [](Manifest& m) { m.program[1].tensors = {kSum, kSum}; }},
        Rule{"instruction 5 calls \"step\" to write what it also uses",
             [](Manifest& m) { m.tensors[kDone].offset = m.tensors[kCounter].offset; }},
        Rule{"instruction 0 leads into a loop that never ends", [](Manifest& m) { m.program[4].target = 4; }},
        Rule{"instruction 0 leads into a loop that never ends",
             [](Manifest& m) { m.program[8] = {Opcode::kJump, 0, 7, {}, ""}; }},
        Rule{"instruction 7 copies a tensor onto itself",
             [](Manifest& m) { m.program[7].tensors = {kCopied, kCopied}; }},
        Rule{"instruction 0 uses a tensor that does not exist",
             [](Manifest& m) { m.program[0].tensors[0] = 99; }},
        Rule{"instruction 0 calls a kernel that does not exist",
             [](Manifest& m) { m.program[0].kernel = 99; }},
        Rule{"instruction 4 jumps with tensors", [](Manifest& m) { m.program[4].tensors = {kX}; }},
        Rule{"instruction 4 jumps outside the program", [](Manifest& m) { m.program[4].target = 99; }},
        Rule{"branches on other than one tensor", [](Manifest& m) { m.program[6].tensors.clear(); }},
        Rule{"branches on other than a bool", [](Manifest& m) { m.program[6].tensors = {kX}; }},
        Rule{"copies other than one tensor", [](Manifest& m) { m.program[7].tensors.pop_back(); }},
        Rule{"copies to a constant", [](Manifest& m) { m.program[7].tensors = {kX, kW}; }},
        Rule{"copies between two dtypes", [](Manifest& m) { m.program[7].tensors = {kX, kCounter}; }},
        Rule{"copies between two shapes", [](Manifest& m) {
               m.tensors[kX].shape = {3};
               m.tensors[kX].dim_slots = {-1};
               m.program[7].tensors = {kX, kSum};
             }}));

}  // namespace
}  // namespace attune
