#include "artifact/artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "artifact/damaged_files_for_test.h"
#include "artifact/encode.h"
#include "artifact/expand.h"
#include "artifact/reader.h"
#include "artifact/testing/sample_artifact.h"
#include "artifact/writer.h"
#include "base/random.h"

namespace attune {
namespace {

using testing::Bytes;
using ::testing::HasSubstr;
using testing::HeaderOf;
using testing::kAdd;
using testing::kKeepRows;
using testing::kSum;
using testing::kW;
using testing::MakeCompressedSampleArtifact;
using testing::MakeSampleArtifact;
using testing::Parse;
using testing::RepairChecksums;
using testing::SampleArtifact;
using testing::WithHeader;
using testing::WriteUnchecked;

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
  const std::vector<ConstantRange>& ranges = view.manifest.constant_ranges;
  ExpandConstants(ranges, RangesOf(view.manifest.variants[0], ranges), view.constants, constants);
  EXPECT_EQ(constants, expected);
}

TEST(ArtifactTest, EqualContentsGiveEqualBytes) {
  EXPECT_EQ(MakeSampleArtifact().Write(), MakeSampleArtifact().Write());
  EXPECT_EQ(MakeCompressedSampleArtifact().Write(), MakeCompressedSampleArtifact().Write());
}

TEST(ArtifactTest, AnEmptyNetworkIsAnArtifact) {
  Manifest manifest;
  manifest.variants.emplace_back().programs.emplace_back();
  const std::string file = WriteArtifact({manifest, {}, {}}).value();
  EXPECT_TRUE(Parse(file).ok());
}

TEST(ArtifactTest, RefusesOtherFiles) {
  EXPECT_EQ(Parse("").fault, ArtifactFault::kNotArtifact);
  EXPECT_EQ(Parse("ONNX").fault, ArtifactFault::kNotArtifact);
  EXPECT_THAT(Parse(std::string(1000, 'x')).message, HasSubstr("is not an Attune artifact"));
}

TEST(ArtifactTest, RefusesOtherVersions) {
  const auto parse = [](uint32_t version) {
    return Parse(
        WithHeader(MakeSampleArtifact().Write(), [=](format::Header& header) { header.version = version; }));
  };
  for (const uint32_t version : {kMinArtifactVersion - 1, kArtifactVersion + 1}) {
    EXPECT_EQ(parse(version).fault, ArtifactFault::kOtherVersion);
    EXPECT_THAT(parse(version).message,
                HasSubstr("has format version " + std::to_string(version) + ", and this runtime reads " +
                          std::to_string(kMinArtifactVersion)));
  }
}

TEST(ArtifactTest, ReadsVersionsBefore) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.variant().kernels.resize(testing::kAddOpen);  // without those of open sizes, which it does not call
  for (uint32_t version = kMinArtifactVersion; version < kArtifactVersion; ++version) {
    const std::string file = WriteUnchecked(sample, sample.manifest, /*repair_kernels=*/true, version);
    ArtifactView view;
    const ArtifactError error = ParseArtifact(Bytes(file), &view);
    ASSERT_TRUE(error.ok()) << error.message;
    EXPECT_EQ(view.manifest, sample.manifest);
  }
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

// Any bytes give an error or a valid manifest, and never a crash.
TEST(ArtifactTest, SurvivesFlippedBitsWithRightChecksums) {
  const std::string file = MakeSampleArtifact().Write();
  const format::Header header = HeaderOf(file);
  Random random(2);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string flipped = file;
    for (int overrides = 1 + static_cast<int>(random.Next() % 3); overrides > 0; --overrides) {
      const size_t at = random.Next() % (header.manifest.offset + header.manifest.bytes);
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random.Next() % 8)));
    }
    RepairChecksums(flipped);
    const ArtifactError error = Parse(flipped);
    refused += !error.ok();
    if (!error.ok()) ASSERT_FALSE(error.message.empty());
  }
  EXPECT_GT(refused, 1000);  // the other flips change texts and the like
}

TEST(ArtifactTest, AKernelMayComputeInPlaceOfAnInput) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.program().instructions[0].tensors = {kSum, kW, kSum};  // as the kernel's interface allows
  EXPECT_TRUE(Parse(sample.Write()).ok());
}

// The manifest is valid by itself, but belongs to other code.
TEST(ArtifactTest, RefusesKernelsThatAreNotThoseOfTheCode) {
  const SampleArtifact sample = MakeSampleArtifact();
  const std::vector<std::function<void(Manifest&)>> changes = {
      [](Manifest& m) { m.variants.front().kernels[kKeepRows].interface.code_offset += kKernelAlignment; },
      [](Manifest& m) {
        std::swap(m.variants.front().kernels[kAdd].interface.code_offset,
                  m.variants.front().kernels[kKeepRows].interface.code_offset);
      },
      [](Manifest& m) { m.variants.front().kernels[kAdd].interface.operands[0].bytes -= 1; },
      [](Manifest& m) { m.variants.front().kernels[kAdd].interface.parallel = false; }};
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
  // The manifest starts with the length of the model's name.
  file.replace(header.manifest.offset, 4, "\xFF\xFF\xFF\x7F");
  RepairChecksums(file);
  EXPECT_THAT(Parse(file).message, HasSubstr("its manifest is malformed"));
}

}  // namespace
}  // namespace attune
