#include "import/onnx/pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/testing/model_builder.h"

namespace attune::onnx {
namespace {

using Metadata = std::map<std::string, std::string>;

// Returns the format that is declared for x f32[1,3,8,8].
std::optional<PictureFormat> Declared(const Metadata& metadata, const std::string& denotation = "") {
  Model model;
  model.AddInput("x", {"1", "3", "8", "8"});
  model.AddNode("Relu", {"x"}, {"y"});
  model.AddOutput("y");
  if (!denotation.empty())
    model.proto.mutable_graph()->mutable_input(0)->mutable_type()->set_denotation(denotation);
  for (const auto& [key, value] : metadata) {
    auto* entry = model.proto.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  const auto parsed = ParseOnnx(model.proto.SerializeAsString(), "");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const auto declared = (*parsed)->Declare("");
  EXPECT_TRUE(declared.ok()) << declared.status();
  return declared->inputs[0].picture;
}

TEST(OnnxPictures, OwnEntriesComeFirst) {
  EXPECT_EQ(
      Declared({{"attune.picture.x", "mean=1,2,3 std=4"}, {"author", "Ultralytics"}, {"task", "detect"}}),
      (PictureFormat{.mean = {1, 2, 3}, .deviation = {4, 4, 4}}));
  EXPECT_EQ(Declared({{"attune.picture.other", "mean=1"}}), std::nullopt);
  EXPECT_EQ(Declared({{"attune.picture.x", "mean=much"}}), std::nullopt);
}

TEST(OnnxPictures, DenotedImagesHaveARangeAndAnOrder) {
  const auto declared = [](const std::string& range, const std::string& pixels = "") {
    Metadata metadata = {{"Image.NominalPixelRange", range}};
    if (!pixels.empty()) metadata["Image.BitmapPixelFormat"] = pixels;
    return Declared(metadata, "IMAGE");
  };
  EXPECT_EQ(declared("NominalRange_0_255", "Bgr8"), (PictureFormat{.order = ChannelOrder::kBgr}));
  EXPECT_EQ(declared("Normalized_0_1", "Rgb8"), (PictureFormat{.deviation = {255, 255, 255}}));
  EXPECT_EQ(declared("Normalized_1_1"), PictureFormatNamed("tf"));
  const std::optional<PictureFormat> video = declared("NominalRange_16_235");
  ASSERT_TRUE(video.has_value());
  EXPECT_NEAR((0 - video->mean[0]) / video->deviation[0], 16, 1e-9);
  EXPECT_NEAR((255 - video->mean[0]) / video->deviation[0], 235, 1e-9);
  // Without the denotation, the entries are about something else.
  EXPECT_EQ(Declared({{"Image.NominalPixelRange", "Normalized_0_1"}}), std::nullopt);
  EXPECT_EQ(Declared({{"author", "somebody"}}, "IMAGE"), std::nullopt);
}

TEST(OnnxPictures, NetworksOfUltralyticsTakeZeroToOne) {
  PictureFormat expected = {.deviation = {255, 255, 255}, .resize = ResizeMode::kLetterbox};
  EXPECT_EQ(Declared({{"author", "Ultralytics"}, {"task", "detect"}}), expected);
  expected.resize = ResizeMode::kCrop;
  EXPECT_EQ(Declared({{"author", "Ultralytics"}, {"task", "classify"}}), expected);
  EXPECT_EQ(Declared({{"author", "Ultralytics"}}), std::nullopt);
}

}  // namespace
}  // namespace attune::onnx
