#include "artifact/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "artifact/damaged_files_for_test.h"
#include "artifact/signer.h"
#include "base/random.h"

namespace attune {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeSampleArtifact;
using testing::Parse;
using testing::WithHeader;

SigningKey KeyOfSeed(uint8_t seed) {
  return *SigningKey::FromSeed(std::vector<uint8_t>(sizeof(Ed25519Key), seed));
}

std::vector<Ed25519Key> SignersOf(const std::string& file) {
  ArtifactView view;
  EXPECT_TRUE(ParseArtifact(Bytes(file), &view).ok());
  std::vector<Ed25519Key> keys;
  for (const ArtifactSignature& one : view.signatures) keys.push_back(one.key);
  return keys;
}

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Signature, LeavesTheUnsignedFileAsItWas) {
  const std::string file = MakeSampleArtifact().Write();
  const SigningKey first = KeyOfSeed(1), second = KeyOfSeed(2);
  const std::string once = *SignArtifact(file, first), twice = *SignArtifact(once, second);
  EXPECT_THAT(SignersOf(file), IsEmpty());
  EXPECT_THAT(SignersOf(once), ElementsAre(first.public_key()));
  EXPECT_THAT(SignersOf(twice), ElementsAre(first.public_key(), second.public_key()));
  ArtifactView view;
  ASSERT_TRUE(ParseArtifact(Bytes(twice), &view).ok());
  EXPECT_EQ(Text(view.unsigned_file.header) + Text(view.unsigned_file.rest), file);
}

TEST(Signature, IsTheSameForTheSameFileAndKey) {
  const std::string file = MakeSampleArtifact().Write();
  const std::string once = *SignArtifact(file, KeyOfSeed(1));
  EXPECT_EQ(*SignArtifact(file, KeyOfSeed(1)), once);
  EXPECT_EQ(*SignArtifact(once, KeyOfSeed(1)), once);
}

TEST(Signature, IsBoundedInNumber) {
  std::string file = MakeSampleArtifact().Write();
  for (uint8_t seed = 0; seed < kMostSignatures; ++seed) file = *SignArtifact(file, KeyOfSeed(seed));
  EXPECT_EQ(SignersOf(file).size(), kMostSignatures);
  EXPECT_THAT(std::string(SignArtifact(file, KeyOfSeed(99)).status().message()),
              HasSubstr("has 16 signatures already"));
}

// An earlier reader takes signatures for more padding: they are within the file that the header tells of.
TEST(Signature, IsInsideTheFile) {
  const std::string file = *SignArtifact(MakeSampleArtifact().Write(), KeyOfSeed(1));
  const format::Header header = testing::HeaderOf(file);
  EXPECT_EQ(header.file_bytes, file.size());
  EXPECT_GE(header.file_bytes - header.constants.offset - header.constants.bytes, kReadAhead);
}

TEST(Signature, DamagedOnesAreRefused) {
  const std::string unsigned_file = MakeSampleArtifact().Write();
  const std::string file = *SignArtifact(unsigned_file, KeyOfSeed(1));
  for (size_t i = unsigned_file.size(); i < file.size(); ++i) {
    std::string damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THAT(Parse(damaged).message, HasSubstr("its signatures are malformed")) << i;
  }
  for (size_t bytes = unsigned_file.size() + 1; bytes < file.size(); ++bytes) {
    const std::string cut =
        WithHeader(file.substr(0, bytes), [&](format::Header& h) { h.file_bytes = bytes; });
    EXPECT_THAT(Parse(cut).message, HasSubstr("its signatures are malformed")) << bytes;
  }
  const std::string longer =
      WithHeader(file + "more", [&](format::Header& h) { h.file_bytes = file.size() + 4; });
  EXPECT_THAT(Parse(longer).message, HasSubstr("its signatures are malformed"));
}

TEST(Signature, ParsingIsSafeOnAnyBytes) {
  Random random(7);
  const std::string good = EncodeSignatures({{.key = {1}, .signature = {2}}, {.key = {3}, .signature = {4}}});
  EXPECT_EQ(ParseSignatures(Bytes(good))->size(), 2u);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good.substr(0, random.Next() % (good.size() + 1));
    for (int change = 0; change < 3 && !bytes.empty(); ++change)
      bytes[random.Next() % bytes.size()] = static_cast<char>(random.Next());
    const auto parsed = ParseSignatures(Bytes(bytes));
    if (parsed.has_value()) EXPECT_EQ(EncodeSignatures(*parsed), bytes);
  }
}

TEST(SigningKey, GoesThroughItsFiles) {
  const SigningKey key = *SigningKey::Generate();
  EXPECT_EQ(SigningKey::FromPem(*key.Pem())->public_key(), key.public_key());
  const SigningKey other = KeyOfSeed(5);
  EXPECT_THAT(*PublicKeysFromPem(*key.PublicPem() + *other.PublicPem()),
              ElementsAre(key.public_key(), other.public_key()));
  EXPECT_FALSE(SigningKey::FromPem(*key.PublicPem()).ok());
  EXPECT_FALSE(PublicKeysFromPem(*key.Pem()).ok());
  EXPECT_FALSE(PublicKeysFromPem("").ok());
  EXPECT_EQ(KeyFromHex(KeyHex(key.public_key())), key.public_key());
  EXPECT_EQ(KeyFromHex("12"), std::nullopt);
  EXPECT_EQ(KeyFromHex(std::string(64, 'g')), std::nullopt);
}

}  // namespace
}  // namespace attune
