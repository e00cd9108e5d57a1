// Pictures as inputs: which numbers they become, who says it, and that it travels in the artifact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "expect_refused.h"
#include "models.h"
#include "nlohmann/json.hpp"
#include "run_attune.h"

namespace attune {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

constexpr char kNote[] = "goes into input \"x\" as numbers of 0 to 255";

void Append(std::string& bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

// A bitmap of one row of pixels, each red, green and blue.
std::string Bitmap(const std::vector<std::vector<uint8_t>>& pixels) {
  std::string row;
  for (const std::vector<uint8_t>& pixel : pixels)
    for (const size_t c : {2, 1, 0}) row.push_back(static_cast<char>(pixel[c]));
  row.resize((row.size() + 3) / 4 * 4);
  std::string bytes = "BM";
  for (const uint64_t value : {54 + row.size(), size_t{0}, size_t{54}, size_t{40}, pixels.size(), size_t{1}})
    Append(bytes, value, 4);
  Append(bytes, 1, 2);
  Append(bytes, 24, 2);
  bytes.resize(54);
  return bytes + row;
}

const std::vector<std::vector<uint8_t>> kPixels = {{10, 20, 30}, {40, 50, 60}, {128, 200, 255}, {0, 100, 7}};

// The values where the samples of the picture are (sample - mean) / deviation.
std::vector<double> Values(const std::vector<double>& mean, const std::vector<double>& deviation,
                           bool bgr = false) {
  std::vector<double> values;
  for (size_t c = 0; c < 3; ++c) {
    for (size_t x = 0; x < 4; ++x) {
      const double number = (kPixels[x][bgr ? 2 - c : c] - mean[c]) / deviation[c];
      values.push_back(std::max(0.0, number + 0.5 * static_cast<double>(x + 1)));
    }
  }
  return values;
}

const std::vector<double> kRaw = Values({0, 0, 0}, {1, 1, 1});
const std::vector<double> kTf = Values({127.5, 127.5, 127.5}, {127.5, 127.5, 127.5});

// The program adds [0.5, 1, 1.5, 2] to the rows of x f32[1,3,1,4], the picture's reds, greens and blues, and
// what is negative becomes 0.
class PictureTest : public ::testing::Test {
 protected:
  Outcome Run(const std::string& model, const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> arguments = {"run", model, "--input", picture_, "--json", "-"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunAttune(arguments);
  }

  // Expects these values, and a note if `is_noted`.
  static void Expect(const Outcome& outcome, const std::vector<double>& values, bool is_noted = false) {
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_THAT(json["outputs"][0]["values"].get<std::vector<double>>(), Pointwise(DoubleNear(1e-4), values));
    EXPECT_EQ(outcome.err.find(kNote) != std::string::npos, is_noted) << outcome.err;
  }

  TemporaryFolder folder_;
  const std::string model_ = folder_.Write("net.onnx", ScoresModel({"1", "3", "1", "4"}));
  const std::string picture_ = folder_.Write("row.bmp", Bitmap(kPixels));
};

TEST_F(PictureTest, GoesInAsItIsWithANoteIfNothingSaysHow) {
  const Outcome outcome = Run(model_);
  Expect(outcome, kRaw, /*is_noted=*/true);
  EXPECT_EQ(Lines(outcome.err), 1);
  EXPECT_THAT(outcome.err, HasSubstr("give --preprocess, mostly torch, tf or caffe, or none"));
  Expect(Run(model_, {"--preprocess", "none"}), kRaw);
  Expect(Run(model_, {"--image-order", "bgr"}), Values({0, 0, 0}, {1, 1, 1}, true), /*is_noted=*/true);
}

TEST_F(PictureTest, BecomesTheNumbersThatOptionsSay) {
  Expect(Run(model_, {"--preprocess", "tf"}), kTf);
  Expect(Run(model_, {"--preprocess", "caffe"}), Values({103.939, 116.779, 123.68}, {1, 1, 1}, true));
  Expect(Run(model_, {"--preprocess", "torch", "--image-resize", "stretch"}),
         Values({123.675, 116.28, 103.53}, {58.395, 57.12, 57.375}));
  Expect(Run(model_, {"--image-mean", "1,2,3", "--image-std", "4,5,6"}), Values({1, 2, 3}, {4, 5, 6}));
  Expect(Run(model_, {"--image-mean", "127.5", "--image-scale", "0.00784313725"}), kTf);
  ExpectRefused(Run(model_, {"--image-std", "1", "--image-scale", "1"}), "give one of them");
  ExpectRefused(Run(model_, {"--image-std", "0"}), "image_std: must not be 0");
}

TEST_F(PictureTest, AnArtifactCarriesWhatWasSaidWhenItWasCompiled) {
  const std::string artifact = folder_ / "net.atn";
  EXPECT_EQ(RunAttune({"compile", model_, "-o", artifact, "--preprocess", "tf"}).exit_code, 0);
  Expect(Run(artifact), kTf);
  Expect(Run(artifact, {"--preprocess", "none"}), kRaw);
  Expect(Run(artifact, {"--image-mean", "0"}), Values({0, 0, 0}, {127.5, 127.5, 127.5}));
  EXPECT_THAT(RunAttune({"inspect", artifact}).out,
              HasSubstr("// picture mean=127.5 std=127.5 order=rgb resize=stretch of \"x\"\n"));
  EXPECT_EQ(RunAttune({"compile", model_, "-o", artifact}).exit_code, 0);
  Expect(Run(artifact), kRaw, /*is_noted=*/true);
}

TEST_F(PictureTest, IsNotedOnceOfManySamples) {
  const std::string quantized = folder_ / "q.onnx";
  const std::string model = folder_.Write("convolutions.onnx", ConvolutionsModel(/*channels=*/3));
  TemporaryFolder photos;
  for (const char* name : {"a.bmp", "b.bmp", "c.bmp", "d.bmp"}) photos.Write(name, Bitmap(kPixels));
  const std::vector<std::string> quantize = {"quantize", model, "--data", photos.path(), "-o", quantized};
  const Outcome noted = RunAttune(quantize);
  EXPECT_EQ(noted.exit_code, 0) << noted.err;
  EXPECT_EQ(Lines(noted.err), 1) << noted.err;
  EXPECT_THAT(noted.err, HasSubstr("as numbers of 0 to 255"));
  std::vector<std::string> with_flag = quantize;
  with_flag.insert(with_flag.end(), {"--preprocess", "torch"});
  EXPECT_THAT(RunAttune(with_flag).err, Not(HasSubstr("note")));
  EXPECT_THAT(ReadAll(quantized), HasSubstr("mean=123.675,116.28,103.53 std=58.395,57.12,57.375 order=rgb"));
}

}  // namespace
}  // namespace attune
