#include "artifact/compress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "artifact/expand.h"
#include "artifact/validate.h"
#include "base/checked.h"
#include "base/float16.h"
#include "base/random.h"

namespace attune {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Constants that lie one after the other, padded, as the compiler lays them out.
class Constants {
 public:
  void Add(const std::vector<uint32_t>& words) { Add(std::as_bytes(std::span(words))); }
  void Add(std::span<const std::byte> constant) {
    sizes_.push_back(constant.size());
    bytes_.insert(bytes_.end(), constant.begin(), constant.end());
    bytes_.resize(static_cast<size_t>(RoundUp(static_cast<int64_t>(bytes_.size()), kConstantPadding)));
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  CompressedConstants Compress() const { return CompressConstants(bytes_, sizes_); }

  // Expects that expanding restores the constants, though not their padding.
  void ExpectExpanded(const CompressedConstants& compressed) const {
    Manifest manifest;
    manifest.constant_ranges = compressed.ranges;
    manifest.variants.emplace_back().programs.emplace_back();
    ASSERT_EQ(ValidateManifest(manifest, 0, compressed.section.size()), "");
    ASSERT_EQ(ExpandedBytes(manifest, compressed.section.size()), bytes_.size());
    std::vector<std::byte> expanded(bytes_.size(), std::byte{0xCC});
    const std::vector<bool> all(compressed.ranges.size(), true);
    ExpandConstants(compressed.ranges, all, compressed.section, expanded);
    size_t offset = 0;
    for (const uint64_t size : sizes_) {
      EXPECT_EQ(std::memcmp(expanded.data() + offset, bytes_.data() + offset, size), 0) << "at " << offset;
      offset += static_cast<size_t>(RoundUp(static_cast<int64_t>(size), kConstantPadding));
    }
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<uint64_t> sizes_;
};

// `count` words, or fewer distinct ones if `values` is less; f16 cannot represent all of them.
std::vector<uint32_t> Clustered(size_t count, size_t values) {
  Random random(values);
  std::vector<uint32_t> clusters, words;
  for (size_t i = 0; i < values; ++i) clusters.push_back(0x3F800001 + static_cast<uint32_t>(i) * 7919);
  for (size_t i = 0; i < count; ++i) words.push_back(clusters[i < values ? i : random.Next() % values]);
  return words;
}

std::vector<uint32_t> Noise(size_t count) {
  Random random(5);
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random.Next());
  return words;
}

class CodebookTest : public ::testing::TestWithParam<std::pair<size_t, int>> {};

TEST_P(CodebookTest, WordsComeBack) {
  const auto [values, bits] = GetParam();
  Constants constants;
  constants.Add(Clustered(10000, values));
  const CompressedConstants compressed = constants.Compress();
  ASSERT_THAT(compressed.ranges, SizeIs(1));
  EXPECT_EQ(compressed.ranges[0].encoding, ConstantEncoding::kIndices);
  EXPECT_EQ(IndexBits(compressed.ranges[0]), bits);
  EXPECT_LE(compressed.section.size(), 10000 * static_cast<size_t>(bits) / 8 + 2 * kConstantPadding);
  constants.ExpectExpanded(compressed);
}

INSTANTIATE_TEST_SUITE_P(Values, CodebookTest,
                         ::testing::Values(std::pair{1, 1}, std::pair{2, 1}, std::pair{3, 2}, std::pair{5, 3},
                                           std::pair{16, 4}, std::pair{17, 5}, std::pair{32, 5},
                                           std::pair{33, 6}, std::pair{128, 7}, std::pair{129, 8},
                                           std::pair{256, 8}));

// 8-bit weights, whose 32-bit words are all distinct.
TEST(CompressTest, BytesComeBack) {
  for (const auto& [values, bits] : {std::pair{16, 4}, {17, 5}, {33, 6}, {64, 6}}) {
    Random random(static_cast<uint64_t>(values));
    std::vector<std::byte> bytes(10001);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(11 + 3 * random.Integer(0, values - 1));
    Constants constants;
    constants.Add(bytes);
    const CompressedConstants compressed = constants.Compress();
    ASSERT_THAT(compressed.ranges, SizeIs(1)) << values;
    EXPECT_EQ(compressed.ranges[0].encoding, ConstantEncoding::kByteIndices);
    EXPECT_EQ(IndexBits(compressed.ranges[0]), bits);
    constants.ExpectExpanded(compressed);
  }
}

TEST(CompressTest, MoreValuesThanIndicesNameStay) {
  Constants constants;
  constants.Add(Clustered(10000, 257));
  const CompressedConstants compressed = constants.Compress();
  EXPECT_THAT(compressed.ranges, IsEmpty());
  EXPECT_THAT(compressed.section, IsEmpty());
}

// All f16 values except signaling NaNs, which no conversion preserves.
TEST(CompressTest, EveryF16ComesBack) {
  std::vector<uint32_t> words;
  for (uint32_t half = 0; half <= 0xFFFF; ++half) {
    const uint32_t word = std::bit_cast<uint32_t>(F16ToFloat(static_cast<uint16_t>(half)));
    if (FloatToF16(std::bit_cast<float>(word)) == half) words.push_back(word);
  }
  EXPECT_GT(words.size(), size_t{0xF800});
  Constants constants;
  constants.Add(words);
  const CompressedConstants compressed = constants.Compress();
  ASSERT_THAT(compressed.ranges, SizeIs(1));
  EXPECT_EQ(compressed.ranges[0].encoding, ConstantEncoding::kF16);
  EXPECT_LE(compressed.section.size(), constants.bytes().size() / 2 + kConstantPadding);
  constants.ExpectExpanded(compressed);
}

TEST(CompressTest, AWordThatF16LacksKeepsF16Away) {
  for (const uint32_t word : {0x3F800001u, 0x47800000u, 0x00000001u, 0x7F800001u}) {
    Constants constants;
    std::vector<uint32_t> words;
    for (int i = 0; i < 1000; ++i) words.push_back(std::bit_cast<uint32_t>(static_cast<float>(i)));
    words.push_back(word);
    constants.Add(words);
    EXPECT_THAT(constants.Compress().ranges, IsEmpty()) << word;
  }
}

TEST(CompressTest, ConstantsOfEachKindLieTogether) {
  const std::vector<std::byte> odd(77, std::byte{9});  // ends in the middle of a word
  std::vector<uint32_t> halves;
  for (int i = 0; i < 3000; ++i) {
    halves.push_back(std::bit_cast<uint32_t>(0.5f * static_cast<float>(i % 2000)));
  }
  Constants constants;
  constants.Add(Noise(100));
  constants.Add(Noise(33));
  constants.Add(halves);
  constants.Add(std::vector<uint32_t>());
  constants.Add(halves);
  constants.Add(Clustered(5000, 16));
  constants.Add(odd);
  constants.Add(Clustered(5001, 16));
  constants.Add(Noise(32));
  const CompressedConstants compressed = constants.Compress();
  std::vector<ConstantEncoding> encodings;
  for (const ConstantRange& range : compressed.ranges) encodings.push_back(range.encoding);
  using enum ConstantEncoding;
  EXPECT_THAT(encodings, ::testing::ElementsAre(kRaw, kF16, kIndices, kIndices, kIndices, kRaw));
  constants.ExpectExpanded(compressed);
  EXPECT_EQ(constants.Compress().section, compressed.section);
}

// To map the file is worth more than a few saved zeros.
TEST(CompressTest, LittleIsNotWorthIt) {
  Constants constants;
  constants.Add(Noise(10000));
  constants.Add(std::vector<uint32_t>(1000));
  EXPECT_THAT(constants.Compress().ranges, IsEmpty());
  constants.Add(std::vector<uint32_t>(1000));
  EXPECT_THAT(constants.Compress().ranges, SizeIs(3));
  EXPECT_THAT(Constants().Compress().ranges, IsEmpty());
}

// Indices in the section cannot lie outside the codebook, whatever its bytes.
TEST(ExpandTest, AnySectionExpands) {
  Random random(3);
  std::vector<std::byte> section(kConstantPadding * 16);
  for (std::byte& byte : section) byte = static_cast<std::byte>(random.Next() & 0xFF);
  for (int bits = 1; bits <= 8; ++bits) {
    ConstantRange range = {ConstantEncoding::kIndices, kConstantPadding * 64, {}};
    range.codebook.assign(size_t{1} << bits, 42);
    ASSERT_LE(StoredBytes(range), section.size());
    std::vector<uint32_t> words(kConstantPadding * 64 / sizeof(uint32_t));
    ExpandConstants({&range, 1}, {true}, section, std::as_writable_bytes(std::span(words)));
    EXPECT_THAT(words, ::testing::Each(42u));
  }
}

TEST(ExpandTest, EveryF16IsItsValue) {
  std::vector<uint16_t> halves(1 << 16);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  const ConstantRange range = {ConstantEncoding::kF16, halves.size() * sizeof(float), {}};
  std::vector<uint32_t> words(halves.size());
  ExpandConstants({&range, 1}, {true}, std::as_bytes(std::span(halves)),
                  std::as_writable_bytes(std::span(words)));
  for (const uint16_t half : halves)
    ASSERT_EQ(words[half], std::bit_cast<uint32_t>(F16ToFloat(half))) << half;
}

}  // namespace
}  // namespace attune
