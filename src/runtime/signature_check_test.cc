#include "runtime/signature_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "artifact/signer.h"
#include "artifact/testing/sample_artifact.h"
#include "attune/attune.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using testing::MakeSampleArtifact;

SigningKey KeyOfSeed(uint8_t seed) {
  return *SigningKey::FromSeed(std::vector<uint8_t>(sizeof(Ed25519Key), seed));
}

// Returns the error of attune_load for the file if only these keys are trusted; empty if it is loaded.
std::string Refusal(const std::string& file, const std::vector<std::string>& keys) {
  std::vector<const char*> pointers;
  for (const std::string& key : keys) pointers.push_back(key.c_str());
  pointers.push_back(nullptr);
  attune_load_options options = ATTUNE_LOAD_OPTIONS_INIT;
  options.trusted_keys = pointers.data();
  options.num_trusted_keys = keys.size();
  attune_model* model = nullptr;
  attune_error error = {};
  if (attune_load_memory(file.data(), file.size(), &options, &model, &error) != ATTUNE_OK)
    return error.message;
  attune_model_free(model);
  return "";
}

// RFC 8032, section 7.1, tests 1 and 2.
TEST(Verifies, KnowsThePublishedVectors) {
  const auto signature_of = [](std::string_view hex) {
    Ed25519Signature signature = {};
    for (size_t half = 0; half < 2; ++half) {
      const Ed25519Key part = *KeyFromHex(hex.substr(64 * half, 64));
      std::ranges::copy(part, signature.begin() + static_cast<ptrdiff_t>(32 * half));
    }
    return signature;
  };
  ArtifactSignature empty = {
      .key = *KeyFromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"),
      .signature =
          signature_of("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
                       "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b")};
  EXPECT_EQ(Verifies(empty, ""), true);
  EXPECT_EQ(Verifies(empty, "x"), false);
  const ArtifactSignature one = {
      .key = *KeyFromHex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
      .signature =
          signature_of("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e"
                       "458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")};
  EXPECT_EQ(Verifies(one, "\x72"), true);
  empty.signature[10] ^= 1;
  EXPECT_EQ(Verifies(empty, ""), false);
}

TEST(TrustedKeys, LetInWhatOneOfThemHasSigned) {
  const std::string file = MakeSampleArtifact().Write();
  const SigningKey first = KeyOfSeed(1), second = KeyOfSeed(2), third = KeyOfSeed(3);
  const std::string signed_file = *SignArtifact(*SignArtifact(file, first), second);
  const auto hex = [](const SigningKey& key) { return KeyHex(key.public_key()); };
  EXPECT_EQ(Refusal(signed_file, {hex(first)}), "");
  EXPECT_EQ(Refusal(signed_file, {hex(third), hex(second)}), "");
  EXPECT_THAT(Refusal(signed_file, {hex(third)}), HasSubstr("which is not a trusted key"));
  EXPECT_THAT(Refusal(signed_file, {}), HasSubstr("which is not a trusted key"));
  EXPECT_THAT(Refusal(file, {hex(first)}), HasSubstr("is not signed"));
  EXPECT_THAT(Refusal(signed_file, {"12"}), HasSubstr("trusted_keys[0] is not 64 hexadecimal digits"));
}

TEST(TrustedKeys, WhatWasCheckedIsWhatTheModelHas) {
  const testing::TemporaryFolder folder;
  const SigningKey key = KeyOfSeed(1);
  const std::string file = *SignArtifact(MakeSampleArtifact().Write(), key), path = folder / "sample.atn";
  ASSERT_TRUE(WriteFileAtomically(path, file).ok());
  const std::string hex = KeyHex(key.public_key());
  const char* const keys[] = {hex.c_str()};
  attune_load_options options = ATTUNE_LOAD_OPTIONS_INIT;
  options.trusted_keys = keys;
  options.num_trusted_keys = 1;
  attune_model* model = nullptr;
  ASSERT_EQ(attune_load(path.c_str(), &options, &model, nullptr), ATTUNE_OK);
  std::ofstream(path) << "something else";  // in its place, which a rename would leave alone
  size_t bytes = 0;
  const auto* content = static_cast<const char*>(attune_model_file(model, &bytes));
  EXPECT_TRUE(std::string_view(content, bytes) == file);
  EXPECT_EQ(attune_model_file(nullptr, &bytes), nullptr);
  attune_model_free(model);
}

TEST(TrustedKeys, NoticeEveryAlteredByte) {
  const std::string file = MakeSampleArtifact().Write();
  const SigningKey key = KeyOfSeed(1), forger = KeyOfSeed(2);
  const std::string signed_file = *SignArtifact(file, key);
  const std::string trusted = KeyHex(key.public_key());
  // The file of a forger who has every checksum right, behind another person's signature.
  for (size_t i = format::kHeaderBytes; i < file.size(); i += 97) {
    std::string altered = signed_file;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    testing::RepairChecksums(altered);
    EXPECT_NE(Refusal(altered, {trusted}), "") << i;
  }
  std::string moved = *SignArtifact(file, forger);
  const std::vector<ArtifactSignature> forged = {
      {.key = key.public_key(), .signature = *forger.Sign("attune artifact of mine")}};
  const std::string block = EncodeSignatures(forged);
  moved.replace(moved.size() - block.size(), block.size(), block);
  EXPECT_THAT(Refusal(moved, {trusted}), HasSubstr("was altered after the key"));
}

TEST(TrustedKeys, ShowWhoHasSigned) {
  const SigningKey key = KeyOfSeed(1);
  const std::string file = *SignArtifact(MakeSampleArtifact().Write(), key);
  attune_model* model = nullptr;
  ASSERT_EQ(attune_load_memory(file.data(), file.size(), nullptr, &model, nullptr), ATTUNE_OK);
  EXPECT_EQ(attune_model_metadata(model, "signers"), KeyHex(key.public_key()));
  attune_model_free(model);
}

}  // namespace
}  // namespace attune
