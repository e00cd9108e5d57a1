// Which artifacts are accepted: digests, foreign processors, files that change, and files that someone
// changed with valid checksums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

#include "artifact/reader.h"
#include "artifact/testing/sample_artifact.h"
#include "attune/attune.hpp"
#include "base/file.h"
#include "base/random.h"
#include "base/testing/no_threads.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using runtime::Error;
using runtime::Model;
using runtime::Session;
using ::testing::HasSubstr;
using testing::MakeSampleArtifact;
using testing::SampleArtifact;

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

attune_load_options Options() { return ATTUNE_LOAD_OPTIONS_INIT; }

// The error with which loading fails; ATTUNE_OK if it succeeds.
attune_error LoadError(const std::string& file, const attune_load_options& options) {
  try {
    const Model model(Bytes(file), options);
  } catch (const Error& error) {
    attune_error found = {error.code(), ""};
    std::snprintf(found.message, sizeof(found.message), "%s", error.what());
    return found;
  }
  return {};
}

TEST(TrustTest, OnlyListedDigestsAreLoaded) {
  const std::string file = MakeSampleArtifact().Write();
  const std::string digest = Sha256Hex(file), other(64, 'A');
  const char* both[] = {other.c_str(), digest.c_str()};
  attune_load_options options = Options();
  options.trusted_sha256 = both;
  options.num_trusted_sha256 = 2;
  EXPECT_EQ(LoadError(file, options).code, ATTUNE_OK);
  options.num_trusted_sha256 = 1;
  EXPECT_EQ(LoadError(file, options).code, ATTUNE_NOT_TRUSTED);
  EXPECT_THAT(LoadError(file, options).message, HasSubstr(digest + ", which is not on the list"));
  options.num_trusted_sha256 = 0;
  EXPECT_EQ(LoadError(file, options).code, ATTUNE_NOT_TRUSTED);
  both[0] = "abc";
  options.num_trusted_sha256 = 1;
  EXPECT_EQ(LoadError(file, options).code, ATTUNE_INVALID_ARGUMENT);
}

TEST(TrustTest, FieldsThatAnOlderCallerLacksAreZero) {
  const std::string file = MakeSampleArtifact().Write();
  attune_load_options options = Options();
  options.struct_bytes = offsetof(attune_load_options, read_whole);
  const char* nothing = nullptr;
  options.trusted_sha256 = &nothing;  // arbitrary data, which must not be read
  options.num_trusted_sha256 = 1;
  EXPECT_EQ(LoadError(file, options).code, ATTUNE_OK);
  options.struct_bytes -= 1;
  EXPECT_EQ(LoadError(file, options).code, ATTUNE_INVALID_ARGUMENT);
}

TEST(LoadFileTest, AFileThatIsReadWholeMayBecomeShorter) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "model.atn";
  std::ofstream(path, std::ios::binary) << MakeSampleArtifact().Write();
  attune_load_options options = Options();
  options.read_whole = 1;
  Session session{Model(path, options)};
  ASSERT_EQ(truncate(path.c_str(), 1), 0);
  session.run();
  EXPECT_EQ(session.output(0).as<float>()[1], 1);  // the sum with w, which is 1 here
  EXPECT_THROW(Model(path, options), Error);
}

TEST(DescribeTest, AnArtifactForAnyProcessorCanBeDescribedAndNotRun) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.variant().target = {"vax", "vax11", {"warp_drive"}};
  const std::string file = sample.Write();
  attune_load_options options = Options();
  EXPECT_EQ(LoadError(file, options).code, ATTUNE_WRONG_TARGET);
  options.describe_only = 1;
  const Model model(Bytes(file), options);
  EXPECT_EQ(model.metadata("target.cpu"), "vax11");
  EXPECT_EQ(model.num_inputs(), 1u);
  EXPECT_THROW(Session{model}, Error);
}

// No manifest makes the kernels access invalid memory, as long as the kernels belong to the code.
TEST(FlippedTest, ManifestsWithRightChecksumsRunWithoutHarm) {
  const std::string file = MakeSampleArtifact().Write();
  ArtifactView view;
  ASSERT_TRUE(ParseArtifact(Bytes(file), &view).ok());
  const std::vector<Instruction> program = view.manifest.variants[0].programs[0].instructions;
  const auto manifest_end = static_cast<size_t>(view.code.data() - Bytes(file).data());
  Random random(3);
  int ran = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string flipped = file;
    for (int overrides = 1 + static_cast<int>(random.Next() % 3); overrides > 0; --overrides) {
      const size_t at = random.Next() % manifest_end;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random.Next() % 8)));
    }
    testing::RepairChecksums(flipped, /*repair_kernels=*/false);
    if (!ParseArtifact(Bytes(flipped), &view).ok()) continue;
    // A changed loop may have a way out and never take it.
    const auto same_way = [](const Instruction& a, const Instruction& b) {
      return a.opcode == b.opcode && a.target == b.target;
    };
    const Variant& variant = view.manifest.variants[0];
    if (!std::ranges::equal(variant.programs[0].instructions, program, same_way)) continue;
    const uint64_t bytes = variant.programs[0].arena_bytes + variant.scratch_bytes + variant.prepacked_bytes;
    if (bytes > (1 << 24)) continue;
    try {
      const Model model(Bytes(flipped));
      Session session(model);
      session.run();
      for (size_t output = 0; output < model.num_outputs(); ++output) session.output(output);
      ++ran;
    } catch (const Error& error) {
      EXPECT_THAT(error.code(), ::testing::AnyOf(ATTUNE_KERNEL_FAILED, ATTUNE_WRONG_TARGET)) << error.what();
    }
  }
  EXPECT_GT(ran, 300);  // those with flips in texts, and some more
}

TEST(ThreadsTest, AsManyAsPossibleAreFewerWhereTheSystemHasNoMore) {
  const Model model(Bytes(MakeSampleArtifact().Write()));
  const testing::NoThreads none;
  Session session(model, 0);
  session.run();
  attune_session* told = nullptr;
  attune_error error = {};
  EXPECT_EQ(attune_session_create(model.get(), 3, &told, &error), ATTUNE_OUT_OF_MEMORY);
  EXPECT_STREQ(error.message, "the system has no more threads than 1; use fewer threads");
}

}  // namespace
}  // namespace attune
