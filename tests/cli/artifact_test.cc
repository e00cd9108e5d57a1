// Commands on artifacts: trusted or not, for other processors, with files that change meanwhile. Also a
// program that runs out of memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/file.h"
#include "expect_refused.h"
#include "models.h"
#include "nlohmann/json.hpp"
#include "run_attune.h"

namespace attune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ArtifactFileTest : public ::testing::Test {
 protected:
  ArtifactFileTest() { EXPECT_EQ(RunAttune({"compile", model_, "-o", artifact_}).exit_code, 0); }

  std::string Digest() const {
    std::ifstream file(artifact_, std::ios::binary);
    return Sha256Hex(std::string(std::istreambuf_iterator<char>(file), {}));
  }

  TemporaryFolder folder_;
  const std::string model_ = folder_.Write("scores.onnx", ScoresModel());
  const std::string artifact_ = folder_ / "scores.atn";
};

TEST_F(ArtifactFileTest, RunsIfItsDigestIsTheExpectedOne) {
  const std::string digest = Digest(), other(64, '0');
  for (const char* command : {"run", "bench", "profile"}) {
    std::vector<std::string> arguments = {command, artifact_, "--input", "x=random:1", "--sha256", digest};
    EXPECT_EQ(RunAttune(arguments).exit_code, 0) << command;
    arguments.back() = other;
    ExpectRefused(RunAttune(arguments), "scores.atn has the SHA-256 " + digest + " and not the expected one");
  }
  EXPECT_EQ(RunAttune({"run", artifact_, "--sha256", "abc"}).exit_code, 2);
  ExpectRefused(RunAttune({"run", model_, "--sha256", other}), "scores.onnx: is a model and not an artifact");
}

TEST_F(ArtifactFileTest, RunsIfItsDigestIsOnTheListOfTrustedOnes) {
  const std::string list = folder_.Write("trusted", "# ours\n\n" + Digest() + "  scores.atn\n");
  const std::string others = folder_.Write("others", std::string(64, '0') + "\n");
  EXPECT_EQ(RunAttune({"bench", artifact_, "--trusted", list}).exit_code, 0);
  EXPECT_EQ(RunAttune({"bench", artifact_}, {.environment = {{"ATTUNE_TRUSTED", list}}}).exit_code, 0);
  EXPECT_EQ(RunAttune({"bench", model_}, {.environment = {{"ATTUNE_TRUSTED", others}}}).exit_code,
            0);  // compiled here
  ExpectRefused(RunAttune({"run", artifact_, "--trusted", others}), "is not on the list of trusted ones");
  ExpectRefused(RunAttune({"bench", artifact_}, {.environment = {{"ATTUNE_TRUSTED", others}}}),
                "is not on the list of trusted ones");
  ExpectRefused(RunAttune({"run", artifact_, "--trusted", folder_.Write("empty", "")}), "is not on the list");
  ExpectRefused(RunAttune({"run", artifact_, "--trusted", folder_ / "absent"}), "absent");
  ExpectRefused(RunAttune({"run", artifact_, "--trusted", folder_.Write("text", "#\nscores.atn\n")}),
                "text:2: a line begins with 64 hexadecimal digits");
}

TEST_F(ArtifactFileTest, RunsIfATrustedKeyHasSignedIt) {
  const std::string key = folder_ / "desk.key", other = folder_ / "other.key";
  for (const std::string& path : {key, other}) ASSERT_EQ(RunAttune({"key", "create", path}).exit_code, 0);
  ExpectRefused(RunAttune({"key", "create", key}), "exists already");
  ExpectRefused(RunAttune({"run", artifact_, "--trust", key + ".pub"}), "is not signed");
  ASSERT_EQ(RunAttune({"compile", model_, "-o", artifact_, "--sign", key}).exit_code, 0);
  EXPECT_EQ(RunAttune({"bench", artifact_, "--trust", key + ".pub"}).exit_code, 0);
  EXPECT_EQ(RunAttune({"bench", artifact_}, {.environment = {{"ATTUNE_TRUST", key + ".pub"}}}).exit_code, 0);
  EXPECT_EQ(RunAttune({"run", artifact_, "--input", "x=random:1"}).exit_code, 0);
  ExpectRefused(RunAttune({"run", artifact_, "--trust", other + ".pub"}), "which is not a trusted key");
  ExpectRefused(RunAttune({"run", artifact_, "--trust", key}), "has no public key in PEM");
  ExpectRefused(RunAttune({"sign", artifact_, "--key", key + ".pub"}), "desk.key.pub");

  ASSERT_EQ(RunAttune({"sign", artifact_, "--key", other}).exit_code, 0);
  EXPECT_EQ(RunAttune({"bench", artifact_, "--trust", other + ".pub"}).exit_code, 0);
  const json signers = json::parse(RunAttune({"inspect", artifact_, "--json", "-"}).out)["signed_by"];
  ASSERT_EQ(signers.size(), 2u);
  EXPECT_EQ(RunAttune({"key", "show", other + ".pub"}).out, signers[1].get<std::string>() + "\n");
  EXPECT_THAT(RunAttune({"inspect", artifact_}).out,
              HasSubstr("signed by " + signers[0].get<std::string>().substr(0, 16)));

  std::string altered = ReadAll(artifact_);
  constexpr size_t kTwoSignatures = 8 + 4 + 2 * 96 + 8;
  altered[altered.size() - kTwoSignatures - 1] ^= 1;  // of the padding, which has no checksum
  const std::string path = folder_.Write("altered.atn", altered);
  ExpectRefused(RunAttune({"run", path, "--trust", key + ".pub"}), "was altered after the key");
}

TEST_F(ArtifactFileTest, OneForAnotherProcessorCanBeInspected) {
  ASSERT_EQ(RunAttune({"compile", model_, "-o", artifact_, "--cpu", "znver4"}).exit_code, 0);
  const RunOptions lesser = {.environment = {{"ATTUNE_HOST_CPU", "x86-64-v3"}}};
  ExpectRefused(RunAttune({"run", artifact_}, lesser), "needs a processor with avx512");
  const Outcome inspected = RunAttune({"inspect", artifact_}, lesser);
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr("znver4"));
}

TEST_F(ArtifactFileTest, OneForSeveralProcessorsRunsOnEach) {
  const Outcome compiled =
      RunAttune({"compile", model_, "-o", artifact_, "--cpu", "x86-64-v3,x86-64-v4", "--json", "-"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_EQ(json::parse(compiled.out)["cpus"], json({"x86-64-v4", "x86-64-v3"}));
  for (const char* cpu : {"", "x86-64-v3"}) {
    const RunOptions as = {.environment = {{"ATTUNE_HOST_CPU", cpu}}};
    const Outcome run = RunAttune({"run", artifact_, "--input", "x=random:1"}, as);
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
  const RunOptions lesser = {.environment = {{"ATTUNE_HOST_CPU", "x86-64-v3"}}};
  const json inspected = json::parse(RunAttune({"inspect", artifact_, "--json", "-"}, lesser).out);
  EXPECT_EQ(inspected["target"]["cpu"], "x86-64-v3");
  EXPECT_EQ(inspected["variants"].size(), 2u);
  EXPECT_THAT(RunAttune({"inspect", artifact_}).out, HasSubstr("x86-64-v3"));

  ExpectRefused(RunAttune({"compile", model_, "-o", artifact_, "--cpu", "znver3,znver3"}),
                "the processor znver3 is given twice");
  EXPECT_EQ(RunAttune({"compile", model_, "-o", artifact_, "--cpu", "znver3,z80"}).exit_code, 2);
}

TEST_F(ArtifactFileTest, OneForSeveralShapesRunsAtEach) {
  const std::string open = folder_.Write("open.onnx", ScoresModel({"N", "4"}));
  const std::string sets = folder_ / "sets.atn";
  const Outcome compiled = RunAttune({"compile", open, "-o", sets, "--shapes", "x=1x4", "--shapes", "x=3x4"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  for (const char* rows : {"1", "3"}) {
    const std::string shape = std::string("x=") + rows + "x4";
    const Outcome run = RunAttune({"run", sets, "--shape", shape, "--input", "x=random:1", "--json", "-"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(json::parse(run.out)["outputs"][0]["shape"], json({std::stoi(rows), 4}));
  }
  const std::string raw = folder_.Write("rows.raw", std::string(3 * 4 * sizeof(float), '\0'));
  const Outcome from_file = RunAttune({"run", sets, "--input", "x=" + raw, "--json", "-"});
  ASSERT_EQ(from_file.exit_code, 0) << from_file.err;
  EXPECT_EQ(json::parse(from_file.out)["outputs"][0]["shape"], json({3, 4}));
  EXPECT_EQ(RunAttune({"bench", sets, "--seconds", "0"}).exit_code, 0);
  EXPECT_EQ(RunAttune({"profile", sets, "--shape", "x=3x4"}).exit_code, 0);
  EXPECT_THAT(RunAttune({"inspect", sets}).out, HasSubstr("x f32[3,4]"));

  ExpectRefused(
      RunAttune({"bench", sets, "--shape", "x=2x4"}),
      "sets.atn: is not compiled for inputs of these shapes, but for x f32[1,4]; or for x f32[3,4]");
  ExpectRefused(RunAttune({"compile", open, "-o", sets, "--shapes", "x=1x4", "--shapes", "x=1x4"}),
                "two programs for inputs of the same shapes");
  ExpectRefused(RunAttune({"compile", open, "-o", sets, "--shapes", "x=1x5"}), "x");
  EXPECT_EQ(RunAttune({"compile", open, "-o", sets, "--shapes", "1x4"}).exit_code, 2);
  EXPECT_EQ(RunAttune({"compile", open, "-o", sets, "--shapes", " "}).exit_code, 2);
}

// It does not matter when that happens: while the file is opened, read or run.
TEST_F(ArtifactFileTest, OneThatBecomesShorterWhileItRunsIsOneSentence) {
  for (const int polls : {1, 50, 150}) {
    const std::string copy = folder_ / "copy.atn";
    std::filesystem::copy_file(artifact_, copy, std::filesystem::copy_options::overwrite_existing);
    const auto shorten = [&, left = polls]() mutable {
      if (--left == 0) std::filesystem::resize_file(copy, 4096);
      return left < -30000;  // a minute: the program ended before that
    };
    ExpectRefused(RunAttune({"bench", copy, "--seconds", "600"}, {.signal_when = shorten, .signal = SIGKILL}),
                  "copy it again");
  }
}

TEST(MemoryLimitTest, RunningOutOfMemoryIsOneSentence) {
  const TemporaryFolder folder;
  // The weights of VGG-16 are half a gigabyte.
  const Outcome outcome =
      RunAttune({"zoo", "vgg16", "-o", folder / "vgg16.onnx"}, {.max_address_bytes = int64_t{500} << 20});
  ExpectRefused(outcome, "out of memory");
  EXPECT_TRUE(folder.Files().empty());
}

}  // namespace
}  // namespace attune
