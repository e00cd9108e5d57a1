// A command opens the model once, whatever shapes and inputs it is given.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/file_opens.h"
#include "io/npy.h"
#include "models.h"
#include "run_attune.h"

namespace attune {
namespace {

class OpensTest : public ::testing::Test {
 protected:
  OpensTest() {
    const float x[] = {1, -2, 3, -4};
    EXPECT_TRUE(WriteNpy(input_, Tensor::FromFloats(x, {1, 4})).ok());
  }

  TemporaryFolder folder_;
  const std::string model_ = folder_.Write("scores.onnx", ScoresModel({"N", "4"}));
  const std::string input_ = folder_ / "x.npy", artifact_ = folder_ / "scores.atn";
};

TEST_F(OpensTest, CompileOpensTheModelOnceForAllShapes) {
  testing::FileOpens opens(model_);
  const Outcome outcome = RunAttune({"compile", model_, "-o", artifact_, "--input", "x=random:1", "--shapes",
                                     "x=1x4", "--shapes", "x=2x4", "--shapes", "x=3x4", "--shapes", "x=4x4"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(opens.Count(), 1);
}

TEST_F(OpensTest, EveryCommandOpensTheModelOnce) {
  const std::string given = "x=" + input_;
  const std::vector<std::vector<std::string>> commands = {
      {"compile", model_, "-o", artifact_, "--shape", "x=2x4"},
      {"compile", model_, "-o", artifact_, "--input", given},
      {"run", model_, "--input", given},
      {"verify", model_, "--input", given},
      {"bench", model_, "--seconds", "0", "--input", given},
      {"profile", model_, "--rounds", "1", "--input", given},
      {"inspect", model_, "--input", given},
      {"inspect", model_, "--contractions", "--input", given},
      {"tune", model_, "--space", "--input", given}};
  for (const std::vector<std::string>& command : commands) {
    testing::FileOpens opens(model_);
    const Outcome outcome = RunAttune(command);
    EXPECT_EQ(outcome.exit_code, 0) << command[0] << ": " << outcome.err;
    EXPECT_EQ(opens.Count(), 1) << command[0];
  }
}

}  // namespace
}  // namespace attune
